import { useEffect, useRef, useState } from 'preact/hooks'
import { count, visible } from '../lib/format.ts'
import { copyText } from './copy.ts'
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
        <pre class="plain" tabIndex={0} dir="auto">
          {visible(shown)}
        </pre>
      ) : (
        <div class="plain-text" dir="auto">
          {visible(shown)}
        </div>
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
    if (!(await copyText(text))) return
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
      <pre tabIndex={0} dir="ltr">
        <code ref={code}>{shown}</code>
      </pre>
      {text.length > COLOURED_MAX && <p class="soft">Cut here. Copy gives all {count(text.length)} characters.</p>}
    </figure>
  )
}
