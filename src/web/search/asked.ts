import { signal } from '@preact/signals'
import { fieldFilters, type FieldFilter } from '../../shared/filters.ts'

/** True while the field is typed in: the last word may be unfinished then. */
export const isTyping = signal(false)

/** Filters in the address that have chips. */
export const FILTERS = fieldFilters
export type Filter = FieldFilter

export interface Asked {
  readonly q: string
  readonly sort: string
  readonly filters: Readonly<Partial<Record<Filter, readonly string[]>>>
  readonly from: string | null
  readonly to: string | null
}

export function readAsked(url: string): Asked {
  const params = new URL(url, location.origin).searchParams
  const filters = Object.fromEntries(
    FILTERS.map((name) => [name, params.getAll(name)]).filter(([, all]) => all?.length),
  )
  return {
    q: params.get('q') ?? '',
    sort: params.get('sort') ?? '',
    filters,
    from: params.get('from'),
    to: params.get('to'),
  }
}

export const hasFilters = ({ filters, from, to }: Asked): boolean =>
  Object.keys(filters).length > 0 || from !== null || to !== null

/** The address with these parameters set; null, '' and empty lists remove one. */
export function addressWith(url: string, changes: Readonly<Record<string, string | null | readonly string[]>>): string {
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

/** A word of three letters or more at the end, outside quotes and fields. */
const UNFINISHED = /(?:^|[\s(])[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}][\p{L}\p{N}_]{2,}$/u

/** While typing, the last word may be a beginning: `conn` also finds `connection`. */
export function askedWhileTyping(q: string): string {
  const isQuoted = (q.match(/"/g) ?? []).length % 2 === 1
  return !isQuoted && UNFINISHED.test(q) && !/(?:^|\s)(OR|AND|NOT)$/.test(q) ? `${q}*` : q
}
