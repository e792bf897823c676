import { hash as digest } from 'node:crypto'
import { FORMAT_VERSION } from '../archive/record.ts'
import { listPairs, readPair } from '../mirror/hub/ledger.ts'
import type { PulledRow } from '../indexer/sources/archive/pulled.ts'
import type { Mirror } from '../mirror/open.ts'
import { readHub, type Hub } from './client.ts'
import { hashOf, hashSql } from './rows-hash.ts'

export interface PullOrder {
  /** The uuid of this mirror: its own rows stay where they are. */
  readonly uuid: string
  /** Names at the hub. `*` is all. */
  readonly projects: readonly string[]
  /** Writes an object to the spool folder. @param name of its file */
  readonly save: (name: string, object: Buffer) => void
}

/** A row whose object lies in the spool folder. */
export interface SpooledRow extends PulledRow {
  /** The SHA-256 of the object, which is the name of its file. Null if the object is too new to be read. */
  readonly object: string | null
}

/** A part of a pull. The mirror takes it, and the next part goes on from there. */
export interface PullPart {
  /** The uuid of the hub. */
  readonly hub: string
  readonly rows: readonly SpooledRow[]
  /** Rows that are gone, or that may no longer be read. */
  readonly gone: readonly { readonly machine: string; readonly chat: string }[]
  readonly bytes: number
  readonly unchanged: number
  /** True if more rows wait. */
  readonly hasMore: boolean
}

interface Progress {
  readonly done: number
  readonly total: number
}

/** How much a part downloads. */
const PART_BYTES = 32 * 1024 * 1024
const PART_ROWS = 2000
/** How much one statement downloads. */
const FETCH_ROWS = 200
const FETCH_BYTES = 4 * 1024 * 1024

interface Pair {
  readonly machine: string
  readonly project: string
}

interface Found extends Pair {
  readonly count: number
  readonly hash: string
}

const IDS = 'chat, sequence'
const SUM_UP = `
select machine, project, count(*)::int as count, ${hashSql(IDS)} as hash
from cursordex.chats where machine <> $1 group by machine, project order by machine, project
`
const LIST_IDS = `
select machine, project, chat, sequence::float8 as sequence, octet_length(object) as bytes
from cursordex.chats
where (machine, project) in (select * from unnest($1::text[], $2::text[])) order by machine, sequence
`
const FETCH = `
select c.machine, c.chat, c.project, c.sequence::float8 as sequence, c.object_version as version,
  case when c.object_version <= $3 then c.object end as object, m.label, c.owner::text as owner
from unnest($1::text[], $2::text[]) with ordinality as wanted (machine, chat, at)
  join cursordex.chats c using (machine, chat) join cursordex.machines m on m.uuid = c.machine
order by wanted.at
`

interface FetchedRow extends Pair {
  readonly chat: string
  readonly sequence: number
  readonly version: number
  readonly object: Buffer | null
  readonly label: string
  readonly owner: string
}

/**
 * Compares what may be read with the ledger, by one hash for each machine and project, and downloads what is missing or
 * differs, in the order of the machines' numbers. Rows that are not seen any more are gone, for whatever reason.
 */
export async function* pullPart(hub: Hub, db: Mirror, order: PullOrder): AsyncGenerator<Progress, PullPart> {
  const ledger = new Map(
    listPairs(db).map((pair) => [keyOf(pair), { ...pair, rows: readPair(db, pair.machine, pair.project) }]),
  )
  const isWanted = (pair: Pair): boolean =>
    order.projects.includes('*') || order.projects.includes(pair.project) || ledger.has(keyOf(pair))
  const differs = (pair: Found): boolean => {
    const { rows } = ledger.get(keyOf(pair)) ?? { rows: new Map<string, number>() }
    return rows.size !== pair.count || hashOf(rows) !== pair.hash
  }
  const seen = await look(hub, order.uuid, (pairs) => pairs.filter((pair) => isWanted(pair) && differs(pair)))
  const there = new Set(seen.rows.map(({ machine, chat }) => `${machine}\0${chat}`))
  const differing = new Set(seen.differing.map(keyOf))
  const equal = new Set(seen.pairs.map(keyOf).filter((key) => !differing.has(key)))
  // A row that moved to another project is there under its new name.
  const gone = [...ledger]
    .filter(([key]) => !equal.has(key))
    .flatMap(([, { machine, rows }]) => [...rows.keys()].map((chat) => ({ machine, chat })))
    .filter(({ machine, chat }) => !there.has(`${machine}\0${chat}`))
  const missing = seen.rows.filter((row) => ledger.get(keyOf(row))?.rows.get(row.chat) !== row.sequence)
  const part = yield* download(hub, missing, order)
  const total = seen.pairs.filter(isWanted).reduce((sum, { count }) => sum + count, 0)
  return { hub: seen.hub, ...part, gone, unchanged: total - missing.length }
}

const keyOf = ({ machine, project }: Pair): string => `${machine}\0${project}`

interface Seen {
  readonly hub: string
  readonly pairs: readonly Found[]
  readonly differing: readonly Found[]
  /** The rows of the pairs that differ, in the order of the machines' numbers. */
  readonly rows: readonly Listed[]
}

/** What may be read now, in one snapshot. Who may read nothing sees nothing. */
async function look(hub: Hub, uuid: string, choose: (pairs: readonly Found[]) => readonly Found[]): Promise<Seen> {
  try {
    return await hub.transaction(async () => {
      const facts = await readHub(hub)
      const pairs = await hub.rows<Found>(SUM_UP, [uuid])
      const differing = choose(pairs)
      return { hub: facts.uuid, pairs, differing, rows: differing.length === 0 ? [] : await readIds(hub, differing) }
    }, 'isolation level repeatable read, read only')
  } catch (error) {
    const isRefused = error instanceof Error && 'code' in error && error.code === '42501'
    if (!isRefused) throw error
    return { hub: '', pairs: [], differing: [], rows: [] }
  }
}

interface Listed extends Pair {
  readonly chat: string
  readonly sequence: number
  readonly bytes: number
}

const readIds = (hub: Hub, pairs: readonly Pair[]): Promise<Listed[]> =>
  hub.rows<Listed>(LIST_IDS, [pairs.map(({ machine }) => machine), pairs.map(({ project }) => project)])

/** Rows for one statement: as many as fit, and at least one. */
function nextPortion(missing: readonly Listed[], from: number): readonly Listed[] {
  let bytes = 0
  let end = from
  while (end < missing.length && end - from < FETCH_ROWS && (end === from || bytes < FETCH_BYTES)) {
    bytes += missing[end]?.bytes ?? 0
    end += 1
  }
  return missing.slice(from, end)
}

async function* download(
  hub: Hub,
  missing: readonly Listed[],
  { save }: PullOrder,
): AsyncGenerator<Progress, Pick<PullPart, 'rows' | 'bytes' | 'hasMore'>> {
  const rows: SpooledRow[] = []
  let bytes = 0
  let at = 0
  while (at < missing.length && rows.length < PART_ROWS && bytes < PART_BYTES) {
    const portion = nextPortion(missing, at)
    const values = [portion.map(({ machine }) => machine), portion.map(({ chat }) => chat), FORMAT_VERSION]
    for (const row of await hub.rows<FetchedRow>(FETCH, values)) {
      rows.push(spool(row, save))
      bytes += row.object?.length ?? 0
    }
    at += portion.length
    yield { done: at, total: missing.length }
  }
  return { rows, bytes, hasMore: at < missing.length }
}

function spool(
  { machine, chat, project, sequence, object, label, owner }: FetchedRow,
  save: PullOrder['save'],
): SpooledRow {
  const row = { machine: { uuid: machine, name: label, user: owner }, chat, project, sequence }
  if (object === null) return { ...row, object: null }
  const name = digest('sha256', object)
  save(name, object)
  return { ...row, object: name }
}
