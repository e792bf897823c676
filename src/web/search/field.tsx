import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../lib/api.ts'
import { visible } from '../lib/format.ts'
import { said } from '../lib/live.ts'
import { type Asked, chatOpenAt, FILTERS, isTyping, listAddress, readAsked, takeFilters, toggled } from './asked.ts'
import { type Completion, useCompletions } from './completions.ts'
import { labelOf } from './menus.tsx'

/** A key after this pause is searched at once. Keys that follow faster are searched together after it. */
const TYPING_PAUSE_MS = 50

/** What the field shows, and the searches that follow from typing and Enter. */
function useTyped(asked: Asked) {
  const { url, path, route } = useLocation()
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const lastKeyAtMs = useRef(Number.NEGATIVE_INFINITY)
  const [typed, setTyped] = useState(asked.q)
  // Back, links and tokens change the address without typing.
  useEffect(() => {
    if (!isTyping.peek()) setTyped(asked.q)
  }, [url])
  const go = (text: string, isFinal: boolean): void => {
    if (timer.current !== null) clearTimeout(timer.current)
    isTyping.value = !isFinal
    const { q, changes } = takeFilters(asked, text, isFinal)
    if (q !== text) setTyped(q)
    const address = listAddress(url, { q, ...changes })
    const isFirst = path !== '/' || asked.q === ''
    // One step of history for each search that was entered, not for each key.
    if (address !== url || isFinal) route(address, !isFirst && (!isFinal || address === url))
  }
  const type = (text: string): void => {
    setTyped(text)
    if (timer.current !== null) clearTimeout(timer.current)
    isTyping.value = true
    const nowMs = performance.now()
    const pauseMs = nowMs - lastKeyAtMs.current
    lastKeyAtMs.current = nowMs
    if (pauseMs >= TYPING_PAUSE_MS) go(text, false)
    else timer.current = setTimeout(() => go(text, false), TYPING_PAUSE_MS)
  }
  const open = (address: string): void => {
    // A search that still waits for its pause would bring back the filters that stood there when its key was pressed.
    if (timer.current !== null) clearTimeout(timer.current)
    isTyping.value = false
    route(address)
  }
  return { typed, setTyped, go, type, open }
}

const say = (sentence: string): void => void (said.value = sentence)

/** The field and, before it, the chosen filters as tokens. */
export function SearchField() {
  const { url } = useLocation()
  const asked = readAsked(url)
  const input = useRef<HTMLInputElement>(null)
  // Where one was before one typed: what is typed leaves an open chat, and what is done belongs to it.
  const cameFrom = useRef(url)
  if (!isTyping.peek()) cameFrom.current = url
  const { typed, setTyped, go, type, open } = useTyped(asked)
  const [isOpen, setOpen] = useState(false)
  const [chosen, setChosen] = useState(-1)
  const completions = useCompletions(typed, isOpen, chatOpenAt(cameFrom.current))
  const isShown = isOpen && completions.length > 0
  const tokens = FILTERS.flatMap((name) =>
    (asked.filters[name] ?? []).map((value) => ({
      text: `${NAMES[name] ?? name}: ${labelOf(name, value)}`,
      // What was just typed may not stand in the address yet.
      address: listAddress(url, { q: typed, ...toggled(asked, name, value) }),
    })),
  )
  const take = (completion: Completion): void => {
    setOpen(!completion.isWhole)
    setChosen(-1)
    if (completion.address !== undefined) return open(completion.address)
    if (completion.act !== undefined) {
      open(cameFrom.current)
      said.value = `${completion.text}…`
      completion.act().then(say, (error: unknown) => say(messageOf(error)))
      return
    }
    setTyped(completion.query)
    input.current?.focus()
    if (completion.isWhole) go(completion.query, true)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const last = tokens.at(-1)
    if (event.key === 'Backspace' && typed === '' && last !== undefined) open(last.address)
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 && event.key !== 'Escape') return
    event.preventDefault()
    if (step === 0 && isShown) setOpen(false)
    else if (step === 0) input.current?.blur()
    else if (isShown) setChosen(((chosen + 1 + step + completions.length + 1) % (completions.length + 1)) - 1)
    else if (step === 1) document.querySelector<HTMLElement>('[data-hit]')?.focus()
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const completion = isShown ? completions[chosen] : undefined
    setOpen(false)
    if (completion === undefined) go(typed, true)
    else take(completion)
  }
  const onInput = (text: string): void => {
    type(text)
    setOpen(true)
    setChosen(-1)
  }
  return (
    <form class="search-field" role="search" onSubmit={submit}>
      {tokens.map(({ text, address }) => (
        <button key={text} type="button" class="token" onClick={() => open(address)} aria-label={`Remove ${text}`}>
          {visible(text)} <span aria-hidden="true">×</span>
        </button>
      ))}
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-label="Search all chats"
        aria-expanded={isShown}
        aria-controls="completions"
        aria-autocomplete="list"
        aria-activedescendant={isShown && chosen >= 0 ? `completion-${chosen}` : undefined}
        placeholder="Search all chats"
        autocomplete="off"
        spellcheck={false}
        enterkeyhint="search"
        value={typed}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <kbd aria-hidden="true">/</kbd>
      <Completions items={isShown ? completions : []} chosen={chosen} take={take} />
    </form>
  )
}

/** What tokens are called, where it is another word than the filter's. */
const NAMES: Readonly<Record<string, string>> = { role: 'said by', to: 'before' }

interface CompletionsProps {
  readonly items: readonly Completion[]
  readonly chosen: number
  readonly take: (completion: Completion) => void
}

/** A strip of one line: results stay visible below it. */
const Completions = ({ items, chosen, take }: CompletionsProps) => (
  <div id="completions" class="completions" role="listbox" aria-label="Completions" hidden={items.length === 0}>
    {items.map((item, index) => (
      <div
        key={`${item.kind} ${item.id}`}
        id={`completion-${index}`}
        role="option"
        aria-selected={index === chosen}
        onMouseDown={(event) => {
          event.preventDefault()
          take(item)
        }}
      >
        <span class="soft">{item.kind === 'term' ? '' : item.kind}</span> {item.text}
      </div>
    ))}
  </div>
)
