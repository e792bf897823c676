import { signal } from '@preact/signals'
import { type FilterName, filterNames } from '../../shared/filters.ts'

/** True while the field is typed in: the last word may be unfinished then. */
export const isTyping = signal(false)

/** Filters that stand as tokens before the field. */
export type Filter = Exclude<FilterName, 'chat'>
export const FILTERS = filterNames.filter((name): name is Filter => name !== 'chat')

/** A search, as its address says it. */
export interface Asked {
  readonly q: string
  readonly sort: string
  /** `from` and `to` have one value at most. */
  readonly filters: Readonly<Partial<Record<Filter, readonly string[]>>>
}

export function readAsked(url: string): Asked {
  const params = new URL(url, location.origin).searchParams
  const given = FILTERS.map((name) => [name, params.getAll(name)] as const).filter(([, values]) => values.length > 0)
  return { q: params.get('q') ?? '', sort: params.get('sort') ?? '', filters: Object.fromEntries(given) }
}

export const hasFilters = ({ filters }: Asked): boolean => Object.keys(filters).length > 0

type Changes = Readonly<Record<string, string | null | readonly string[]>>

/** The address with these parameters set; null, '' and empty lists remove one. */
export function addressWith(url: string, changes: Changes): string {
  const { pathname, searchParams } = new URL(url, location.origin)
  for (const [name, value] of Object.entries(changes)) {
    searchParams.delete(name)
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== '') searchParams.append(name, String(each))
    }
  }
  const query = searchParams.toString()
  return query === '' ? pathname : `${pathname}?${query}`
}

/** The list with these changes; of another place than the list or a chat, a new list. */
export function listAddress(url: string, changes: Changes = {}): string {
  const { pathname, search } = new URL(url, location.origin)
  const isList = pathname === '/' || pathname.startsWith('/chats')
  return addressWith(`/${isList ? search : ''}`, { at: null, view: null, find: null, bucket: null, ...changes })
}

/** A chat of the list, opened. @param at its place in the list @param query what is looked for in it */
export const openedAddress = (
  url: string,
  id: string,
  at: number,
  messageId: string | null,
  query?: string,
): string => {
  const address = listAddress(url, { at: String(at), find: query ?? null }).slice(1)
  return `/chats/${encodeURIComponent(id)}${address}${messageId === null ? '' : `#${encodeURIComponent(messageId)}`}`
}

/** The id of the chat that an address of the page shows; null for another place. */
export function chatOpenAt(url: string): string | null {
  const [, id] = /^\/chats\/([^?#]+)/.exec(url) ?? []
  return id === undefined ? null : decodeURIComponent(id)
}

export const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, null]))

export function toggled({ filters }: Asked, name: Filter, value: string): Changes {
  const chosen = filters[name] ?? []
  const isOn = chosen.includes(value)
  if (name === 'from' || name === 'to') return { [name]: isOn ? null : value }
  return { [name]: isOn ? chosen.filter((each) => each !== value) : [...chosen, value] }
}

/** Fields of the search language that are filters too, by what is typed. */
const TYPED: Readonly<Record<string, Filter>> = {
  ...Object.fromEntries(FILTERS.map((name) => [name, name])),
  after: 'from',
  before: 'to',
}
const FIELD = /(^|\s)([a-z]+):("[^"]+"|[^\s"():]+)(?=(\s|$))/g
/** Fields that take only these values. */
export const FIELD_VALUES: Readonly<Record<string, readonly string[]>> = {
  role: ['user', 'assistant'],
  in: ['text', 'code', 'tool', 'thinking', 'title', 'attachment', 'plan', 'summary'],
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}
const DATE = /^(\d{4}(-\d\d){1,2}|\d+[dwmy]|today|yesterday)$/

const isValue = (name: Filter, value: string): boolean =>
  name === 'from' || name === 'to' ? DATE.test(value) : FIELD_VALUES[name]?.includes(value) !== false

/**
 * Takes finished fields out of a typed text, as filters. Within parentheses, or beside OR, they stay: there they mean something else.
 * @param isFinal whether a field at the end is finished too
 */
export function takeFilters(
  asked: Asked,
  typed: string,
  isFinal: boolean,
): { readonly q: string; readonly changes: Changes } {
  const changes: Record<string, string | readonly string[]> = {}
  if (/[()]|(^|\s)OR(\s|$)/.test(typed)) return { q: typed, changes }
  const q = typed.replace(FIELD, (whole, lead: string, field: string, given: string, after: string) => {
    const name = TYPED[field]
    const value = given.replaceAll('"', '')
    if (name === undefined || (after === '' && !isFinal) || !isValue(name, value)) return whole
    const before = (changes[name] as readonly string[] | undefined) ?? asked.filters[name] ?? []
    changes[name] = name === 'from' || name === 'to' ? value : [...before.filter((each) => each !== value), value]
    return lead
  })
  return { q: Object.keys(changes).length === 0 ? typed : q.replaceAll(/\s+/g, ' ').trimStart(), changes }
}

/** A word of three letters or more at the end, outside quotes and fields. */
const UNFINISHED = /(?:^|[\s(])[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}][\p{L}\p{N}_]{2,}$/u

/** While typing, the last word may be a beginning: `conn` also finds `connection`. */
export function askedWhileTyping(q: string): string {
  const isQuoted = (q.match(/"/g) ?? []).length % 2 === 1
  return !isQuoted && UNFINISHED.test(q) && !/(?:^|\s)(OR|AND|NOT)$/.test(q) ? `${q}*` : q
}
