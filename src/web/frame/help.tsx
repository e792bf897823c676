import { useEffect, useRef } from 'preact/hooks'

const KEYS: readonly (readonly [string, string])[] = [
  ['/ or Ctrl K', 'Search, go to a place by its name, export, change the theme …'],
  ['j, k', 'Next and previous chat of the list'],
  ['Enter', 'Open it; in the field: search exactly this'],
  ['n, p', 'In a chat: next and previous hit'],
  ['J, K', 'In a chat: next and previous prompt'],
  ['f', 'In a chat: next failure'],
  ['e', 'In a chat: expand all, fold all'],
  ['Ctrl F', 'In a chat: find; pressed twice: the find of the browser'],
  ['Esc', 'Leave the field, close this'],
  ['?', 'This help'],
]

const WORDS: readonly (readonly [string, string])[] = [
  ['"connection pool"', 'these words side by side'],
  ['pool -socket', 'without a word'],
  ['pool OR socket', 'one of them is enough'],
  ['conn*, *Name*', 'beginning with, containing'],
  ['project:shop tool:shell', 'in a project, in calls of a tool'],
  ['role:user in:code', 'who said it, where it is'],
  ['after:7d before:2026-03', 'when'],
  ['has:error is:deleted', 'with an error, deleted in Cursor'],
]

export function Help({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="help" onClose={close} aria-labelledby="help-title">
      <div class="spread">
        <h2 id="help-title">Keys and search words</h2>
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {[KEYS, WORDS].map((lines) => (
        <dl key={lines.length} class="keys">
          {lines.map(([name, means]) => (
            <div key={name}>
              <dt>{lines === KEYS ? <kbd>{name}</kbd> : <code>{name}</code>}</dt>
              <dd>{means}</dd>
            </div>
          ))}
        </dl>
      ))}
    </dialog>
  )
}
