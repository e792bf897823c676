import { HUB_BYTES_MAX } from '../api/archives/archive-files.ts'
import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import type { PulledRow } from '../indexer/sources/archive/pulled.ts'
import { listLedger, type SeenRow } from '../mirror/hub/ledger.ts'
import type { Mirror } from '../mirror/open.ts'
import type { Hub } from './client.ts'
import { unlessRefused } from './explain-error.ts'

export interface PullOrder {
  /** The uuid of this machine: its own rows stay where they are. */
  readonly uuid: string
  /** Names at the hub. `*` is all. */
  readonly projects: readonly string[]
}

/** A part of a pull. The mirror takes it, and the next part goes on from there. */
export interface PullPart {
  readonly rows: readonly PulledRow[]
  /** Rows that are gone, or that may no longer be read. */
  readonly gone: readonly Pick<SeenRow, 'machine' | 'chat'>[]
  readonly bytes: number
  readonly unchanged: number
  /** How many rows this part and the later ones download. */
  readonly missing: number
}

/** How much a part downloads. */
const PART_ROWS = 500
const PART_BYTES = 16 * 1024 * 1024

type ListedRow = SeenRow & { readonly bytes: number }

/** An object that is too new to be read counts as not there, until this program is upgraded. */
const LIST = `
select machine, project, chat, sequence::float8 as sequence, octet_length(object) as bytes
from cursordex.chats where machine <> $1 and object_version <= $2 order by machine, sequence
`
/** What is longer than the text of a chat may be is no object. It is not downloaded. */
const FETCH = `
select c.chat, c.project, c.sequence::float8 as sequence,
  case when octet_length(c.object) <= $3 then encode(c.object, 'base64') else '' end as object,
  json_build_object('uuid', c.machine, 'name', m.label, 'user', c.owner) as machine
from unnest($1::text[], $2::text[]) with ordinality as wanted (machine, chat, at)
  join cursordex.chats c using (machine, chat) join cursordex.machines m on m.uuid = c.machine
order by wanted.at
`

const pairOf = ({ machine, project }: SeenRow): string => `${machine}\0${project}`
const keyOf = ({ machine, chat }: SeenRow): string => `${machine}\0${chat}`

/**
 * Compares what may be read with the ledger, row by row, and downloads what is missing or differs, in the order of the
 * machines' numbers. Projects of which the mirror has copies are compared too, whether they are named or not.
 */
export async function pullPart(hub: Hub, db: Mirror, { uuid, projects }: PullOrder): Promise<PullPart> {
  const ledger = listLedger(db)
  const known = new Map(ledger.map((row) => [keyOf(row), row.sequence]))
  const pairs = new Set(ledger.map(pairOf))
  const isWanted = (row: SeenRow): boolean =>
    projects.includes('*') || projects.includes(row.project) || pairs.has(pairOf(row))
  const listed = await hub.rows<ListedRow>(LIST, [uuid, FORMAT_VERSION]).catch(unlessRefused)
  const there = listed.filter(isWanted)
  const keys = new Set(there.map(keyOf))
  const missing = there.filter((row) => known.get(keyOf(row)) !== row.sequence)
  const part = nextPart(missing)
  const wanted = [part.map(({ machine }) => machine), part.map(({ chat }) => chat), HUB_BYTES_MAX]
  return {
    rows: part.length === 0 ? [] : await hub.rows<PulledRow>(FETCH, wanted),
    gone: ledger.filter((row) => !keys.has(keyOf(row))).map(({ machine, chat }) => ({ machine, chat })),
    bytes: part.reduce((sum, { bytes }) => sum + bytes, 0),
    unchanged: there.length - missing.length,
    missing: missing.length,
  }
}

/** As many rows as fit, and at least one. */
function nextPart(missing: readonly ListedRow[]): readonly ListedRow[] {
  let bytes = 0
  return missing.slice(0, PART_ROWS).filter((row, at) => (bytes += row.bytes) <= PART_BYTES || at === 0)
}
