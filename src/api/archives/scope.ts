import { roles } from '../../model/message.ts'
import { UserError } from '../../model/user-error.ts'
import { nearestName } from '../../text/nearest-name.ts'
import { readPeriod, type Clock } from '../periods.ts'
import { parseQuery } from '../search/language/parse.ts'
import { partNames } from '../search/language/tree.ts'
import { filterNames, type SearchFilters } from '../search/request.ts'

/** Which chats are archived: the results of a search, of filters, or all. */
export type Scope = string | Readonly<Record<string, unknown>> | null

export interface ScopeQuery {
  readonly q: string
  readonly filters: SearchFilters
}

const names: readonly string[] = ['q', ...filterNames]

/**
 * A scope as a search request; null for everything.
 * @throws UserError `bad-scope`, exit code 2, that says what is wrong with it
 */
export function readScope(scope: Scope, clock: Clock): ScopeQuery | null {
  if (scope === null) return null
  const given = typeof scope === 'string' ? { q: scope } : scope
  const filters: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(given)) {
    if (!names.includes(name)) throw unknownName(name)
    if (name === 'q') continue
    const words = wordsOf(name, value)
    if (name === 'from' || name === 'to') requireDate(name, words, clock)
    if (name === 'role' || name === 'in') requireKnown(name, words)
    filters[name] = words
  }
  const q = given['q'] === undefined || given['q'] === '' ? '' : wordsOf('q', given['q']).join(' ')
  if (Object.keys(filters).length > 0 || parseQuery(q).tree !== null) return { q, filters }
  throw badScope('The scope is empty', 'Name a word or a filter, or leave the scope out to archive everything.')
}

function wordsOf(name: string, value: unknown): readonly string[] {
  const words: unknown[] = Array.isArray(value) ? value : [value]
  const isRight =
    words.length > 0 && words.length <= 1000 && words.every((word) => typeof word === 'string' && word !== '')
  if (isRight) return words as string[]
  throw badScope(`"${name}" of the scope is neither a text nor a list of texts`, 'It must be one of them.')
}

function requireDate(name: string, words: readonly string[], clock: Clock): void {
  const [word = ''] = words
  if (words.length === 1 && readPeriod(word, clock) !== null) return
  throw badScope(
    `"${name}" of the scope is not a date`,
    'It must be a date such as 2026-03-01, 2026-02, yesterday or 7d.',
  )
}

/** A search refuses unknown values too. With one, the archive would be empty and still count as verified. */
function requireKnown(name: 'role' | 'in', words: readonly string[]): void {
  const known: readonly string[] = name === 'role' ? roles : partNames
  const wrong = words.find((word) => !known.includes(word))
  if (wrong === undefined) return
  throw badScope(`"${name}" of the scope cannot be "${wrong.slice(0, 100)}"`, `It can be ${known.join(', ')}.`)
}

function unknownName(name: string): UserError {
  const nearest = nearestName(name, names)
  const hint = nearest === null ? `A scope can contain ${names.join(', ')}.` : `Did you mean "${nearest}"?`
  return badScope(`"${name.slice(0, 100)}" is not a part of a scope`, hint)
}

const badScope = (text: string, hint: string): UserError =>
  new UserError('bad-scope', `${text}.`, hint, { exitCode: 2 })
