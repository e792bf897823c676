import { useEffect, useRef, useState } from 'preact/hooks'
import { count, plural, visible } from '../lib/format.ts'
import { FileLink } from './file-link.tsx'

const SHOWN_MAX = 20_000
/** Above this, colours cost more than they help. */
const COLOURED_MAX = 60_000

/** Text as it is, its beginning first if it is long. */
export function LongText({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? text : text.slice(0, SHOWN_MAX)
  return (
    <>
      {isCode ? (
        <pre class="plain" tabIndex={0}>
          {visible(shown)}
        </pre>
      ) : (
        <div class="plain-text">{visible(shown)}</div>
      )}
      {shown.length < text.length && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {count(text.length)} characters
        </button>
      )}
    </>
  )
}

export function Copy({ text, name = 'Copy' }: { text: string; name?: string }) {
  const [isDone, setDone] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  return (
    <button type="button" class="quiet copy" onClick={() => void copy()}>
      {isDone ? 'Copied' : name}
    </button>
  )
}

export function Code({ text, language, path }: { text: string; language: string | null; path: string | null }) {
  const code = useRef<HTMLElement>(null)
  const shown = visible(text.slice(0, COLOURED_MAX))
  useEffect(() => {
    let isGone = false
    const extension = path === null ? null : (/\.(\w+)$/.exec(path)?.[1] ?? null)
    const colour = async (): Promise<void> => {
      const { highlighted } = await import('./highlight.ts')
      const fragment = isGone ? null : highlighted(shown, language ?? extension)
      if (fragment !== null) code.current?.replaceChildren(fragment)
    }
    void colour()
    return () => {
      isGone = true
    }
  }, [shown, language])
  return (
    <figure class="code">
      <figcaption>
        {path === null ? <span>{language ?? 'text'}</span> : <FileLink path={path} />}
        <Copy text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code ref={code}>{shown}</code>
      </pre>
      {text.length > COLOURED_MAX && <p class="soft">Cut here. Copy gives all {count(text.length)} characters.</p>}
    </figure>
  )
}

const DIFF_LINES_MAX = 100

const kindOf = (line: string): 'added' | 'removed' | undefined =>
  line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined

/**
 * The first lines of each kind, so that many removed lines do not hide the added ones. Each gap is counted.
 * @returns `lines` itself if all of them are shown
 */
function shortened(lines: readonly string[]): readonly string[] {
  const counts = new Map<string | undefined, number>()
  const shown: string[] = []
  let leftOut = 0
  const endGap = (): void => {
    if (leftOut > 0) shown.push(`⋯ ${plural(leftOut, 'more line')}`)
    leftOut = 0
  }
  for (const line of lines) {
    const kind = kindOf(line)
    const number = (counts.get(kind) ?? 0) + 1
    counts.set(kind, number)
    if (number > DIFF_LINES_MAX) leftOut += 1
    else {
      endGap()
      shown.push(line)
    }
  }
  endGap()
  return [...counts.values()].some((number) => number > DIFF_LINES_MAX) ? shown : lines
}

/** Lines that begin with - and + in their colours; the sign itself stays for those who do not see them. */
export function DiffView({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const lines = visible(text).split('\n')
  const shown = isWhole ? lines : shortened(lines)
  return (
    <>
      <pre class="diff" tabIndex={0}>
        {shown.map((line, index) => (
          <span key={index} class={kindOf(line)}>
            {line}
            {'\n'}
          </span>
        ))}
      </pre>
      {shown !== lines && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {count(lines.length)} lines
        </button>
      )}
    </>
  )
}
