import Anser from 'anser'
import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import { copyText } from '../lib/acts.ts'
import { count, fileAddress, shortPath, visible } from '../lib/format.ts'

const SHOWN_MAX = 20_000
/** Above this, colours cost more than they help. */
const COLOURED_MAX = 60_000

/** The id of the project whose paths are shown; null if it is unknown. */
export const PathsOf = createContext<string | null>(null)

/** A path, which leads to the page of its file. */
export const FileLink = ({ path, isShort = false }: { path: string; isShort?: boolean }) => (
  <a class="file" href={fileAddress(path, useContext(PathsOf))} title={path}>
    {visible(isShort ? shortPath(path) : path)}
  </a>
)

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
      <figcaption class="spread">
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

/** What a terminal showed in its end: a line that was written over has only its last state. */
const lastStates = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .join('\n')

// Sequences that move the cursor or set a title: they have no place in a text.
// oxlint-disable-next-line no-control-regex -- these are what is removed
const OTHER_SEQUENCES = /\u001b(?:\[[\d;?]*[A-HJKSTf-ln-su]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78])/g

/** Output of a command in its colours, its beginning and its end if it is long: errors stand at the end. */
export function Terminal({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const plain = lastStates(text.replace(OTHER_SEQUENCES, ''))
  const isLong = plain.length > SHOWN_MAX && !isWhole
  const half = SHOWN_MAX / 2
  const shown = isLong ? `${plain.slice(0, half)}\n⋯\n${plain.slice(-half)}` : plain
  return (
    <>
      <pre class="plain terminal" tabIndex={0} dir="ltr">
        {Anser.ansiToJson(shown, { use_classes: true, remove_empty: true }).map(
          ({ content, fg, bg, decorations }, index) => {
            const classes = [fg, bg === null ? null : `${bg}-bg`, ...decorations].filter(Boolean).join(' ')
            return classes === '' ? (
              visible(content)
            ) : (
              <span key={index} class={classes}>
                {visible(content)}
              </span>
            )
          },
        )}
      </pre>
      {isLong && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {count(plain.length)} characters
        </button>
      )}
    </>
  )
}
