import type { Mirror } from '../../../mirror/open.ts'
import { inSnapshot } from '../snapshot.ts'

/** In what kind of place a chat was found. */
export const chatOrigins = ['lists', 'rows', 'transcripts'] as const
export type ChatOrigin = (typeof chatOrigins)[number]

export interface ListComparison {
  /** `lists`: Cursor's lists of chats. `rows`: stores of chats. `transcripts`: transcript files. */
  readonly known: Readonly<Record<ChatOrigin, number>>
  /** Each pair in both directions: how many chats the first has and the second lacks. */
  readonly differences: readonly { readonly in: ChatOrigin; readonly notIn: ChatOrigin; readonly chats: number }[]
}

const TRANSCRIPTS = `select num from sources where kind = 'transcripts'`
/** In `heads`, a chat's own row has an empty list name. */
const LISTED = `select chat_id from heads where list <> '' and source not in (${TRANSCRIPTS})`
const OF_SOURCES = (isIn: 'in' | 'not in'): string => `
  select chats.id as chat_id from chats join messages on messages.chat = chats.num
  where messages.source ${isIn} (${TRANSCRIPTS})
  union select chats.id from chats join outlines on outlines.chat = chats.num where outlines.source ${isIn} (${TRANSCRIPTS})
  union select chat_id from heads where list = '' and source ${isIn} (${TRANSCRIPTS})
`

const questions: Readonly<Record<ChatOrigin, string>> = {
  lists: LISTED,
  rows: OF_SOURCES('not in'),
  transcripts: OF_SOURCES('in'),
}

function idsOf(db: Mirror, origin: ChatOrigin): ReadonlySet<string> {
  const rows = db.prepare<[], { chat_id: string }>(questions[origin]).all()
  return new Set(rows.map((row) => row.chat_id))
}

export function compareLists(db: Mirror): ListComparison {
  return inSnapshot(db, () => {
    const known = { lists: idsOf(db, 'lists'), rows: idsOf(db, 'rows'), transcripts: idsOf(db, 'transcripts') }
    const missing = (one: ChatOrigin, other: ChatOrigin): number =>
      [...known[one]].filter((id) => !known[other].has(id)).length
    return {
      known: { lists: known.lists.size, rows: known.rows.size, transcripts: known.transcripts.size },
      differences: chatOrigins.flatMap((one) =>
        chatOrigins
          .filter((other) => other !== one)
          .map((other) => ({ in: one, notIn: other, chats: missing(one, other) })),
      ),
    }
  })
}
