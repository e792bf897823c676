import { readJson, writtenOut } from '../../../helpers/cases.ts'

type Lists = Readonly<Record<string, readonly string[]>>

const { byName, ...lists } = writtenOut(
  readJson(import.meta.url, 'parameters.json') as { readonly byName: Lists } & Omit<Lists, 'byName'>,
)

/**
 * Hostile values by the name of the parameter. A route with a parameter that is not in this list fails its test, so that
 * somebody adds hostile values for it. In the file, `...texts` stands for all values of that list.
 */
export const hostileFor: Lists = Object.fromEntries(
  Object.entries(byName).map(([name, values]) => [
    name,
    values.flatMap((value) => (value.startsWith('...') ? (lists[value.slice(3)] ?? []) : value)),
  ]),
)

/** Queries that are wrong for every route: unknown names, odd spellings of known ones, and far too many. */
export const oddQueries = (names: readonly string[]): string[] => [
  'nonsense=1',
  '=',
  '=1',
  '&',
  '&&',
  '?',
  '__proto__=1',
  'constructor=1',
  'toString',
  '%00=1',
  '%=1',
  '%ff=1',
  'q[]=1',
  ...names.flatMap((name) => [
    `${name}[]=1`,
    `${name}[a]=1`,
    `${name.toUpperCase()}=1`,
    `${name}%00=1`,
    ` ${name}=1`.replace(' ', '%20'),
  ]),
  ...names.map((name) => `${name}=a&${name}=b`),
  ...names.map((name) => Array.from({ length: 500 }, (_, at) => `${name}=${at}`).join('&')),
  Array.from({ length: 5000 }, (_, at) => `p${at}=${at}`).join('&'),
]
