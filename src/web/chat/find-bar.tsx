import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { count } from '../lib/format.ts'
import type { Found } from './whole.ts'

interface FindBarProps {
  readonly q: string
  readonly hits: Found
  readonly target: string | null
  readonly find: (words: string) => void
  readonly step: (by: 1 | -1) => void
  /** Whether the reader opened it: then its field has the focus. */
  readonly isFinding: boolean
  readonly close: () => void
}

const PAUSE_MS = 250

/** Finds words in the whole chat, also in what is not loaded. */
export function FindBar({ q, hits, target, find, step, isFinding, close }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null)
  const [words, setWords] = useState(q)
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  // Before the next key: what is typed at once must not be selected again.
  useLayoutEffect(() => {
    if (isFinding) field.current?.select()
  }, [isFinding])
  // What is being typed wins over an address that is some letters behind.
  useEffect(() => {
    if (document.activeElement !== field.current) setWords(q)
  }, [q])
  const at = target === null ? -1 : hits.spots.findIndex(({ id }) => id === target)
  const { total } = hits
  const type = (typed: string): void => {
    setWords(typed)
    if (timer.current !== null) clearTimeout(timer.current)
    timer.current = setTimeout(() => find(typed), PAUSE_MS)
  }
  return (
    <div class="find-bar" role="search" aria-label="Find in this chat">
      <input
        ref={field}
        type="search"
        aria-label="Find in this chat"
        placeholder="Find in this chat"
        value={words}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
          else if (event.key === 'Escape') close()
          else return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      {q !== '' && (
        <span aria-live="polite">
          {at < 0 ? `${total} ${total === '1' ? 'hit' : 'hits'}` : `Hit ${count(at + 1)} of ${total}`}
        </span>
      )}
      <button type="button" disabled={hits.spots.length === 0} onClick={() => step(-1)}>
        <kbd aria-hidden="true">p</kbd> <span aria-hidden="true">↑</span>
        <span class="hidden">Previous hit</span>
      </button>
      <button type="button" disabled={hits.spots.length === 0} onClick={() => step(1)}>
        <kbd aria-hidden="true">n</kbd> <span aria-hidden="true">↓</span>
        <span class="hidden">Next hit</span>
      </button>
      <button type="button" onClick={close} aria-label="Close the find bar">
        ×
      </button>
    </div>
  )
}
