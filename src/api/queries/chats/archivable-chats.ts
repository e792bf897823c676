import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'

export interface ArchivableChat {
  readonly num: number
  readonly id: string
  readonly revision: number
}

const ALL = `select num, id, revision from chats order by num`
const THESE = `
  select c.num, c.id, c.revision from json_each(?) wanted join chats c on c.num = wanted.value order by c.num
`

/** Chats to archive, in the order in which they were found. @param nums all of them where null */
export const listArchivable = (db: Mirror, nums: readonly number[] | null): ArchivableChat[] =>
  nums === null
    ? prepared<ArchivableChat>(db, ALL).all()
    : prepared<ArchivableChat>(db, THESE).all(JSON.stringify(nums))

const IDENTITY = `select id from identity`

/** Which mirror this is: another one after it was made anew. */
export function readIdentity(db: Mirror): string {
  const id = prepared<{ id: string }>(db, IDENTITY).get()?.id
  if (id === undefined) throw new Error('a mirror has no identity')
  return id
}
