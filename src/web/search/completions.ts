import { fieldFilters } from '../../shared/filters.ts'
import { useEffect, useState } from 'preact/hooks'
import type { Suggestion } from '../../api/answers/search.ts'
import { actsOn } from '../lib/acts.ts'
import { api } from '../lib/api.ts'
import { chatAddress } from '../lib/format.ts'
import { FIELD_VALUES } from './asked.ts'

export interface Completion {
  readonly kind: Suggestion['kind'] | 'field' | 'go to' | 'do'
  readonly text: string
  readonly id: string
  /** The text of the search field after it was taken. */
  readonly query: string
  /** False if a value must still be typed. */
  readonly isWhole: boolean
  /** Where it leads instead. */
  readonly address?: string
  /** What it does instead. @returns what came of it, as a sentence */
  readonly act?: () => Promise<string>
}

const FIELDS = [
  ...fieldFilters.filter((name) => !(name in FIELD_VALUES)).map((name) => `${name}:`),
  'before:',
  'after:',
  'on:',
  ...Object.entries(FIELD_VALUES).flatMap(([name, values]) => values.map((value) => `${name}:${value}`)),
]
/** Places of the page, which are gone to by their names. */
const PLACES = [
  ['Files', '/files'],
  ['Projects', '/projects'],
  ['Activity', '/stats'],
  ['Usage', '/tokens'],
  ['Safety: losses, archives, hub', '/losses'],
  ['Settings: theme, what is read', '/settings'],
] as const

const PAUSE_MS = 120
const MAX = 6

/** Fields and values for what is typed. They come later than results and never delay them. */
export function useCompletions(typed: string, isWanted: boolean, chatId: string | null): readonly Completion[] {
  const [items, setItems] = useState<{ typed: string; list: readonly Completion[] }>({ typed: '', list: [] })
  useEffect(() => {
    if (!isWanted || typed.trim().length < 2) return undefined
    const controller = new AbortController()
    const timer = setTimeout(() => {
      api.get('/api/suggest', { query: { q: typed, limit: MAX }, signal: controller.signal }).then(
        (answer) =>
          setItems({
            typed,
            list: [
              ...namedBy(typed, chatId),
              ...fieldsFor(typed),
              ...answer.items.map((item) => completionOf(typed, item)),
            ].slice(0, MAX),
          }),
        () => undefined,
      )
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [typed, isWanted])
  return items.typed === typed ? items.list : []
}

const lastWord = (typed: string): string => /\S*$/.exec(typed)?.[0] ?? ''
const withLast = (typed: string, word: string): string => typed.slice(0, typed.length - lastWord(typed).length) + word

/** Places and acts in whose names words begin with all that is typed. */
function namedBy(typed: string, chatId: string | null): Completion[] {
  const words = typed.toLowerCase().split(/\s+/)
  const fits = ([name]: readonly [string, unknown]): boolean =>
    words.every((word) => ` ${name.toLowerCase()}`.includes(` ${word}`))
  const common = { query: '', isWhole: true }
  return [
    ...PLACES.filter(fits).map(([text, address]) => ({
      ...common,
      kind: 'go to' as const,
      text,
      id: address,
      address,
    })),
    ...Object.entries(actsOn(chatId))
      .filter(fits)
      .map(([text, act]) => ({ ...common, kind: 'do' as const, text, id: text, act })),
  ]
}

function fieldsFor(typed: string): Completion[] {
  const word = lastWord(typed).toLowerCase()
  if (word.length < 2) return []
  const fitting = FIELDS.filter((field) => field.startsWith(word) && field !== word)
  return fitting.map((text) => {
    const isWhole = !text.endsWith(':')
    return { kind: 'field', text, id: text, query: withLast(typed, text), isWhole }
  })
}

const quoted = (value: string): string => (/[\s"():]/.test(value) ? `"${value.replaceAll('"', '')}"` : value)

/** The field that a suggestion fills. */
const FIELD_OF: Readonly<Partial<Record<Suggestion['kind'], string>>> = {
  project: 'project',
  tool: 'tool',
  file: 'path',
}

function completionOf(typed: string, { kind, text, id }: Suggestion): Completion {
  const field = FIELD_OF[kind]
  const value = kind === 'project' ? text : id
  const query = field === undefined ? (kind === 'term' ? id : text) : withLast(typed, `${field}:${quoted(value)}`)
  return { kind, text, id, query, isWhole: true, ...(kind === 'chat' ? { address: chatAddress(id) } : {}) }
}
