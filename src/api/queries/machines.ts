import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import type { Machine } from '../answers/projects.ts'

/** The word for this machine in filters. */
export const LOCAL = 'local'
/** Stands for this machine in lists of machines. No row has this number. */
const LOCAL_NUM = 0

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

/**
 * An SQL expression: whether a chat belongs to one of the machines.
 * @param chat the alias of the table of chats @param list a parameter: the result of `resolveMachines` as JSON
 */
export const isOfMachines = (chat: string, list: string): string =>
  `ifnull(${chat}.machine, ${LOCAL_NUM}) in (select value from json_each(${list}))`
