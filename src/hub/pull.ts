import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import type { PulledRow } from '../indexer/sources/archive/index.ts'
import { type SeenRow, listLedger } from '../mirror/hub/hub.ts'
import type { Mirror } from '../mirror/open.ts'
import type { Hub } from './client.ts'
import { unlessRefused } from './explain-error.ts'
import { NAME_BYTES_MAX, OBJECT_BYTES_MAX, SEQUENCE_MAX } from './schema.ts'

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
const PART_BYTES = 4 * 1024 * 1024

/** @property isFit false for what no program writes. It is not downloaded, and counts as damaged until its number changes. */
type ListedRow = SeenRow & { readonly bytes: number; readonly isFit: boolean }

const isName = (column: string): string => `octet_length(${column}) between 1 and ${NAME_BYTES_MAX}`
/** A name that is too long is cut, and stays distinct. */
const named = (column: string): string =>
  `case when ${isName(column)} then ${column} else left(${column}, 50) || md5(${column}) end`
const IS_NUMBER = `sequence between 1 and ${SEQUENCE_MAX}`

/**
 * The rows of a reader. An object that is too new to be read counts as not there, until this program is upgraded. So does a
 * row while the chat's id has an earlier row of another role: nobody can replace or hide the chat of somebody else.
 */
const LIST = `
select ${named('machine')} as machine, ${named('project')} as project, ${named('chat')} as chat,
  (case when ${IS_NUMBER} then sequence else 0 end)::float8 as sequence, octet_length(object) as bytes,
  ${IS_NUMBER} and octet_length(object) <= ${OBJECT_BYTES_MAX} and ${['machine', 'project', 'chat'].map(isName).join(' and ')}
    and row_number() over (partition by machine, sequence order by chat) = 1 as "isFit"
from cursordex.chats c
where machine <> $1 and object_version <= $2 and not exists (
  select from cursordex.chats earlier where earlier.chat = c.chat and earlier.owner <> c.owner
    and (earlier.first_at, earlier.owner) < (c.first_at, c.owner)
)
order by machine, sequence
`
/** A row that grew meanwhile waits for the next part. */
const FETCH = `
select c.chat, c.project, c.sequence::float8 as sequence, encode(c.object, 'base64') as object,
  json_build_object('uuid', c.machine, 'name', left(m.label, 100), 'user', c.owner) as machine
from unnest($1::text[], $2::text[], $3::int[]) with ordinality as wanted (machine, chat, bytes, at)
  join cursordex.chats c using (machine, chat) join cursordex.machines m on m.uuid = c.machine
where octet_length(c.object) = wanted.bytes
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
  const fit = part.filter(({ isFit }) => isFit)
  const wanted = (['machine', 'chat', 'bytes'] as const).map((column) => fit.map((row) => row[column]))
  const fetched = fit.length === 0 ? [] : await hub.rows<PulledRow>(FETCH, wanted)
  return {
    rows: [...fetched, ...part.filter(({ isFit }) => !isFit).map(withoutObject)],
    gone: ledger.filter((row) => !keys.has(keyOf(row))).map(({ machine, chat }) => ({ machine, chat })),
    bytes: fit.reduce((sum, { bytes }) => sum + bytes, 0),
    unchanged: there.length - missing.length,
    missing: missing.length,
  }
}

const withoutObject = ({ machine, ...row }: ListedRow): PulledRow => ({
  ...row,
  machine: { uuid: machine, name: '', user: '' },
  object: '',
})

/** As many rows as fit, and at least one. */
function nextPart(missing: readonly ListedRow[]): readonly ListedRow[] {
  let bytes = 0
  return missing.slice(0, PART_ROWS).filter((row, at) => (bytes += row.isFit ? row.bytes : 0) <= PART_BYTES || at === 0)
}
