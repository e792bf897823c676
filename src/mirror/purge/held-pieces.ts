import { PieceSearch } from '../../text/piece-search.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { PIECE_OCTETS } from './pieces.ts'

const LIST_BODIES = `select num, parts from bodies where num > ? order by num limit 500`
const LIST_TEXTS = `
select name as text from heads where name is not null
union all select title from chats
union all select summary from chats where summary is not null
union all select todos from chats where todos is not null
`

/** Which of these pieces what is left holds, too: words that are quoted, or a file that was read twice. */
export function* findHeld(db: Mirror, pieces: readonly string[]): Generator<void, string[]> {
  const search = new PieceSearch(pieces, PIECE_OCTETS)
  const held = new Set<string>()
  const look = (text: string): void => search.scan(Buffer.from(text), (piece) => held.add(piece))
  for (const { text } of prepared<{ text: string }>(db, LIST_TEXTS).all()) look(JSON.stringify(text).slice(1, -1))
  for (let after = 0; ;) {
    const rows = prepared<{ num: number; parts: string }>(db, LIST_BODIES).all(after)
    for (const { parts } of rows) look(parts)
    const last = rows.at(-1)
    if (last === undefined) return [...held]
    after = last.num
    yield
  }
}
