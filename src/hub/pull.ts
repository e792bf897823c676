import { hash as digest } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { objectPath } from '../archive/manifest.ts'
import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import type { PulledRow } from '../indexer/sources/archive/pulled.ts'
import { readLedger, type Pair } from '../mirror/hub/ledger.ts'
import type { Mirror } from '../mirror/open.ts'
import { readHub, type Hub } from './client.ts'
import { isRefusal } from './explain-error.ts'

export interface PullOrder {
  /** The uuid of this machine: its own rows stay where they are. */
  readonly uuid: string
  /** Names at the hub. `*` is all. */
  readonly projects: readonly string[]
  /** The spool folder. Objects are written there as an archive would have them. */
  readonly dir: string
}

/** A row whose object lies in the spool folder. */
export interface SpooledRow extends PulledRow {
  /** The SHA-256 of the object, which is the name of its file. Null if the object is too new to be read. */
  readonly object: string | null
}

/** A part of a pull. The mirror takes it, and the next part goes on from there. */
export interface PullPart {
  readonly rows: readonly SpooledRow[]
  /** Rows that are gone, or that may no longer be read. */
  readonly gone: readonly { readonly machine: string; readonly chat: string }[]
  readonly bytes: number
  readonly unchanged: number
  /** How many rows this part and the later ones download. */
  readonly missing: number
}

/** How much a part downloads. */
const PART_ROWS = 500
const PART_BYTES = 16 * 1024 * 1024

interface Summed extends Pair {
  readonly count: number
  readonly hash: string
}

interface Listed extends Pair {
  readonly chat: string
  readonly sequence: number
  readonly bytes: number
}

/** What may be read now. */
interface Seen {
  readonly pairs: readonly Summed[]
  /** The keys of pairs that the ledger has as they are. */
  readonly equal: ReadonlySet<string>
  /** The rows of the other pairs, in the order of the machines' numbers. */
  readonly listed: readonly Listed[]
}

const SUM_UP = `
select machine, project, count(*)::int as count, encode(sha256(convert_to(
    string_agg(concat_ws(chr(9), chat, sequence), chr(10) order by chat collate "C"), 'UTF8')), 'hex') as hash
from cursordex.chats where machine <> $1 group by machine, project order by machine, project
`
const LIST_IDS = `
select machine, project, chat, sequence::float8 as sequence, octet_length(object) as bytes
from cursordex.chats
where (machine, project) in (select * from unnest($1::text[], $2::text[])) order by machine, sequence
`
const FETCH = `
select c.chat, c.project, c.sequence::float8 as sequence, case when c.object_version <= $3 then c.object end as object,
  json_build_object('uuid', c.machine, 'name', m.label, 'user', c.owner) as machine
from unnest($1::text[], $2::text[]) with ordinality as wanted (machine, chat, at)
  join cursordex.chats c using (machine, chat) join cursordex.machines m on m.uuid = c.machine
order by wanted.at
`

/** The same hash: of one text with a line for each row, in the order of the bytes of their chats' ids. */
function hashOf(rows: ReadonlyMap<string, number>): string {
  const lines = Array.from(rows, ([chat, sequence]) => ({ id: Buffer.from(chat), text: `${chat}\t${sequence}` }))
  lines.sort((one, other) => Buffer.compare(one.id, other.id))
  return digest('sha256', lines.map(({ text }) => text).join('\n'))
}

const keyOf = ({ machine, project }: Pair): string => `${machine}\0${project}`

/**
 * Compares what may be read with the ledger, by one hash for each machine and project, and downloads what is missing or
 * differs, in the order of the machines' numbers. Rows that are not seen any more are gone, for whatever reason.
 */
export async function pullPart(hub: Hub, db: Mirror, order: PullOrder): Promise<PullPart> {
  const { uuid, projects, dir } = order
  const ledger = new Map(readLedger(db).map((pair) => [keyOf(pair), pair]))
  const isWanted = (pair: Pair): boolean =>
    projects.includes('*') || projects.includes(pair.project) || ledger.has(keyOf(pair))
  const isEqual = (pair: Summed): boolean => {
    const rows = ledger.get(keyOf(pair))?.rows ?? new Map<string, number>()
    return rows.size === pair.count && hashOf(rows) === pair.hash
  }
  // In one snapshot.
  const look = async (): Promise<Seen> => {
    await readHub(hub)
    const pairs = (await hub.rows<Summed>(SUM_UP, [uuid])).filter(isWanted)
    const equal = new Set(pairs.filter(isEqual).map(keyOf))
    const differing = pairs.filter((pair) => !equal.has(keyOf(pair)))
    const values = [differing.map(({ machine }) => machine), differing.map(({ project }) => project)]
    return { pairs, equal, listed: differing.length === 0 ? [] : await hub.rows<Listed>(LIST_IDS, values) }
  }
  const { pairs, equal, listed } = await hub
    .transaction(look, 'isolation level repeatable read, read only')
    .catch(unlessRefused)
  // A row that moved to another project is there under its new name.
  const there = new Set(listed.map(({ machine, chat }) => `${machine}\0${chat}`))
  const gone = [...ledger.values()]
    .filter((pair) => !equal.has(keyOf(pair)))
    .flatMap(({ machine, rows }) => [...rows.keys()].map((chat) => ({ machine, chat })))
    .filter(({ machine, chat }) => !there.has(`${machine}\0${chat}`))
  const missing = listed.filter((row) => ledger.get(keyOf(row))?.rows.get(row.chat) !== row.sequence)
  const total = pairs.reduce((sum, { count }) => sum + count, 0)
  const part = nextPart(missing)
  const wanted = [part.map(({ machine }) => machine), part.map(({ chat }) => chat), FORMAT_VERSION]
  const fetched = part.length === 0 ? [] : await hub.rows<Fetched>(FETCH, wanted)
  const bytes = fetched.reduce((sum, { object }) => sum + (object?.length ?? 0), 0)
  const rows = fetched.map((row) => spool(row, dir))
  return { rows, gone, bytes, unchanged: total - missing.length, missing: missing.length }
}

/** Who may read nothing sees nothing. */
function unlessRefused(error: unknown): Seen {
  if (!isRefusal(error)) throw error
  return { pairs: [], equal: new Set(), listed: [] }
}

type Fetched = PulledRow & { readonly object: Buffer | null }

/** As many rows as fit, and at least one. */
function nextPart(missing: readonly Listed[]): readonly Listed[] {
  const next = missing.slice(0, PART_ROWS)
  let bytes = 0
  const tooMuch = next.findIndex((row, at) => (bytes += row.bytes) > PART_BYTES && at > 0)
  return tooMuch < 0 ? next : next.slice(0, tooMuch)
}

/** Only this user can read the file. */
function spool({ object, ...row }: Fetched, dir: string): SpooledRow {
  if (object === null) return { ...row, object }
  const name = digest('sha256', object)
  const path = join(dir, objectPath(name))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, object, { mode: 0o600 })
  return { ...row, object: name }
}
