import { hash as digest } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Progress } from '../api/http/schemas/archives.ts'
import { objectPath } from '../archive/manifest.ts'
import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import type { PulledRow } from '../indexer/sources/archive/pulled.ts'
import { readLedger, type Pair } from '../mirror/hub/ledger.ts'
import type { Mirror } from '../mirror/open.ts'
import { codeOf, readHub, type Hub } from './client.ts'
import { hashOf, hashSql } from './rows-hash.ts'

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
  /** True if more rows wait. */
  readonly hasMore: boolean
}

/** How much a part downloads. */
const PART_BYTES = 32 * 1024 * 1024
const PART_ROWS = 2000
/** How much one statement downloads. */
const FETCH_ROWS = 200
const FETCH_BYTES = 4 * 1024 * 1024

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
select machine, project, count(*)::int as count, ${hashSql('chat, sequence')} as hash
from cursordex.chats where machine <> $1 group by machine, project order by machine, project
`
const LIST_IDS = `
select machine, project, chat, sequence::float8 as sequence, octet_length(object) as bytes
from cursordex.chats
where (machine, project) in (select * from unnest($1::text[], $2::text[])) order by machine, sequence
`
const FETCH = `
select c.machine, c.chat, c.project, c.sequence::float8 as sequence,
  case when c.object_version <= $3 then c.object end as object, m.label, c.owner::text as owner
from unnest($1::text[], $2::text[]) with ordinality as wanted (machine, chat, at)
  join cursordex.chats c using (machine, chat) join cursordex.machines m on m.uuid = c.machine
order by wanted.at
`

const keyOf = ({ machine, project }: Pair): string => `${machine}\0${project}`

/**
 * Compares what may be read with the ledger, by one hash for each machine and project, and downloads what is missing or
 * differs, in the order of the machines' numbers. Rows that are not seen any more are gone, for whatever reason.
 */
export async function* pullPart(hub: Hub, db: Mirror, order: PullOrder): AsyncGenerator<Progress, PullPart> {
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
  const part = yield* download(hub, missing, dir)
  return { ...part, gone, unchanged: total - missing.length }
}

/** Who may read nothing sees nothing. */
function unlessRefused(error: unknown): Seen {
  if (codeOf(error) !== '42501') throw error
  return { pairs: [], equal: new Set(), listed: [] }
}

interface Fetched extends Pair {
  readonly chat: string
  readonly sequence: number
  readonly object: Buffer | null
  readonly label: string
  readonly owner: string
}

async function* download(
  hub: Hub,
  missing: readonly Listed[],
  dir: string,
): AsyncGenerator<Progress, Pick<PullPart, 'rows' | 'bytes' | 'hasMore'>> {
  const rows: SpooledRow[] = []
  let [bytes, at] = [0, 0]
  while (at < missing.length && rows.length < PART_ROWS && bytes < PART_BYTES) {
    const portion = nextPortion(missing, at)
    const values = [portion.map(({ machine }) => machine), portion.map(({ chat }) => chat), FORMAT_VERSION]
    for (const row of await hub.rows<Fetched>(FETCH, values)) {
      rows.push(spool(row, dir))
      bytes += row.object?.length ?? 0
    }
    at += portion.length
    yield { done: at, total: missing.length }
  }
  return { rows, bytes, hasMore: at < missing.length }
}

/** Rows for one statement: as many as fit, and at least one. */
function nextPortion(missing: readonly Listed[], from: number): readonly Listed[] {
  const next = missing.slice(from, from + FETCH_ROWS)
  let bytes = 0
  const tooMuch = next.findIndex((row, at) => (bytes += row.bytes) > FETCH_BYTES && at > 0)
  return tooMuch < 0 ? next : next.slice(0, tooMuch)
}

/** Only this user can read the file. */
function spool({ machine, chat, project, sequence, object, label, owner }: Fetched, dir: string): SpooledRow {
  const row = { machine: { uuid: machine, name: label, user: owner }, chat, project, sequence }
  if (object === null) return { ...row, object: null }
  const name = digest('sha256', object)
  const path = join(dir, objectPath(name))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, object, { mode: 0o600 })
  return { ...row, object: name }
}
