import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export interface TombstoneCounts {
  readonly chats: number
  readonly messages: number
  readonly texts: number
}

const COUNT = `
select
  count(*) filter (where kind = 'chat') as chats,
  count(*) filter (where kind = 'message') as messages,
  count(*) filter (where kind = 'text') as texts
from tombstones
`

/** How much is kept from coming in again. */
export const countTombstones = (db: Mirror): TombstoneCounts =>
  prepared<TombstoneCounts>(db, COUNT).get() ?? { chats: 0, messages: 0, texts: 0 }
