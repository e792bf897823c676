import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import type { Machine } from '../answers/projects.ts'

/** What a list or report is about. */
export interface Scope {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** From `resolveMachines`, in the same way. */
  readonly machineNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** The word for this machine in filters. */
export const LOCAL = 'local'
/** Stands for this machine in lists of machines. No row has this number. */
const LOCAL_NUM = 0

/**
 * An SQL expression: whether a chat belongs to one of the machines.
 * @param chat the alias of the table of chats @param list a parameter: the result of `resolveMachines` as JSON
 */
export const isOfMachines = (chat: string, list: string): string =>
  `ifnull(${chat}.machine, ${LOCAL_NUM}) in (select value from json_each(${list}))`

/** An SQL expression: whether a chat `c`, which may be missing, is of the projects and machines of the scope. */
export const IN_SCOPE = `
  (@projectNums is null or c.project in (select value from json_each(@projectNums)))
  and (@machineNums is null or c.num is not null and ${isOfMachines('c', '@machineNums')})
`

/** A test of a column of chats; empty if every chat is in the scope. */
export const chatInScope = ({ projectNums, machineNums }: Scope, column: string): string =>
  projectNums === null && machineNums === null ? '' : `and ${column} in (select c.num from chats c where ${IN_SCOPE})`

/** Tests of a time. */
export const within = ({ fromMs, toMs }: Scope, column: string): string =>
  [fromMs === null ? '' : `and ${column} >= @fromMs`, toMs === null ? '' : `and ${column} < @toMs`].join(' ')

const MACHINES = `select id, name, user from machines order by id`

/**
 * The numbers of the machines that these words name, and 0 for `local`, this machine. Another word is a machine's name,
 * or `user/name` if several users have a machine of this name. Case and the spelling of accents do not matter. An unknown
 * word finds nothing.
 */
export function resolveMachines(db: Mirror, words: readonly string[]): number[] {
  const wanted = new Set(words.map(folded))
  const namesOf = ({ name, user }: Machine): string[] => [name, `${user}/${name}`].map(folded)
  const found = prepared<Machine & { readonly id: number }>(db, MACHINES)
    .all()
    .filter((machine) => namesOf(machine).some((name) => name !== LOCAL && wanted.has(name)))
  return [...(wanted.has(LOCAL) ? [LOCAL_NUM] : []), ...found.map(({ id }) => id)]
}

const folded = (word: string): string => word.normalize('NFC').toLowerCase()
