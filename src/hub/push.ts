import { isOfProject } from '../mirror/projects/match-project.ts'
import { listPushable, listQueue, type PushableChat, type QueuedPurge } from '../mirror/hub/own-side.ts'
import type { Mirror } from '../mirror/open.ts'
import { FORMAT_VERSION } from '../archive/record.ts'
import type { Hub, HubFacts } from './client.ts'
import { asOwnMachine, mustChange, type OwnMachine } from './own-machine.ts'
import { packChat, redactionOf } from './pack-chat.ts'
import { nameOfNone } from './project-names.ts'
import { hashOf, hashSql } from './rows-hash.ts'

export interface PushOrder {
  readonly machine: OwnMachine
  /** Names, ids, paths or names at the hub. `*` is all. */
  readonly projects: readonly string[]
  readonly isRedacted: boolean
  readonly isDryRun: boolean
  /** Chats that went on after this time wait, unless they are in `due`. Null sends all at once. Epoch milliseconds. */
  readonly quietSinceMs: number | null
  readonly due: readonly string[]
}

/** In chats. */
export interface PushResult {
  readonly pushed: number
  readonly removed: number
  readonly unchanged: number
  /** Size of the sent objects. */
  readonly bytes: number
  /** Chats that wait until they are quiet. */
  readonly waiting: readonly string[]
  /** Chats that cannot be sent, and why. */
  readonly leftOut: readonly { readonly id: string; readonly why: string }[]
  /** The number of the last purge that the hub knows now. Null if none was sent. */
  readonly purgesUpTo: number | null
}

interface Progress {
  readonly done: number
  readonly total: number
}

/** A batch ends with the chat that exceeds one of these. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_ROWS = 200
/** PostgreSQL refuses values of 1 GB, and needs several copies of one in memory. */
const OBJECT_BYTES_MAX = 200 * 1024 * 1024

/**
 * Sends purges first, and then the chats of the named projects that the hub does not have as they are now. What is
 * unchanged is the hub's word. It removes rows only for purges. Each batch is one transaction, so a push that was ended
 * continues with the next one.
 */
export async function* push(
  hub: Hub,
  db: Mirror,
  facts: HubFacts,
  order: PushOrder,
): AsyncGenerator<Progress, PushResult> {
  const queue = listQueue(db)
  const removed = order.isDryRun ? 0 : await sendPurges(hub, db, order.machine, queue)
  const barred = await readPurged(hub, order.machine.uuid)
  const wanted = listWanted(db, facts, order).filter(({ id }) => !barred.has(id))
  const changed = await changedOf(hub, wanted, order)
  const waiting = new Set(changed.filter((chat) => isWaiting(chat, order)).map(({ id }) => id))
  const sending = changed.filter(({ id }) => !waiting.has(id))
  const tally = { pushed: 0, bytes: 0, leftOut: [] as { id: string; why: string }[] }
  if (order.isDryRun) tally.pushed = sending.length
  else yield* send(hub, db, order, sending, tally)
  return {
    ...tally,
    removed,
    unchanged: wanted.length - changed.length,
    waiting: [...waiting],
    purgesUpTo: order.isDryRun ? null : (queue.at(-1)?.num ?? null),
  }
}

/** A chat with the name of its project. */
type Wanted = PushableChat & { readonly hubName: string }

function listWanted(db: Mirror, { role }: HubFacts, { projects }: PushOrder): readonly Wanted[] {
  const isAll = projects.includes('*')
  return listPushable(db).flatMap((chat) => {
    const { uri, path, name } = chat
    const hubName = uri === null ? nameOfNone(role) : chat.hubName
    // Its project came up after the names were given. The next push sends it. PostgreSQL stores no NUL.
    if (hubName === null || `${chat.id}${hubName}`.includes('\0')) return []
    const isNamed = isAll || projects.includes(hubName) || isOf({ uri, path, name }, projects)
    return isNamed ? [{ ...chat, hubName }] : []
  })
}

const isOf = ({ uri, path, name }: Pick<PushableChat, 'uri' | 'path' | 'name'>, projects: readonly string[]): boolean =>
  uri !== null && isOfProject({ uri, path: path ?? '', name: name ?? '' }, projects)

const isWaiting = ({ id, activityMs }: Wanted, { quietSinceMs, due }: PushOrder): boolean =>
  quietSinceMs !== null && (activityMs ?? 0) > quietSinceMs && !due.includes(id)

const STATE = 'chat, project, revision, redaction, object_version'
const SUM_UP = `
select count(*)::int as count, ${hashSql(STATE)} as hash from cursordex.chats where machine = $1
`
const LIST_ROWS = `
select chat, concat_ws(chr(9), ${STATE}) as state from cursordex.chats where machine = $1
`

/** Compares all rows by one hash, and reads them only if it differs. */
async function changedOf(hub: Hub, wanted: readonly Wanted[], { machine, isRedacted }: PushOrder): Promise<Wanted[]> {
  const stateOf = (chat: Wanted): readonly (string | number)[] => [
    chat.id,
    chat.hubName,
    chat.revision,
    redactionOf(isRedacted),
    FORMAT_VERSION,
  ]
  const [sum] = await hub.rows<{ count: number; hash: string }>(SUM_UP, [machine.uuid])
  if (sum?.count === wanted.length && sum.hash === hashOf(wanted.map(stateOf))) return []
  const rows = await hub.rows<{ chat: string; state: string }>(LIST_ROWS, [machine.uuid])
  const held = new Map(rows.map(({ chat, state }) => [chat, state]))
  return wanted.filter((chat) => held.get(chat.id) !== stateOf(chat).join('\t'))
}

const READ_PURGED = `select chat, message from cursordex.purged where machine = $1`

/** The chats that were purged whole. Purged messages are kept out by the mirror, which was told of them. */
async function readPurged(hub: Hub, uuid: string): Promise<ReadonlySet<string>> {
  const rows = await hub.rows<{ chat: string; message: string | null }>(READ_PURGED, [uuid])
  return new Set(rows.flatMap(({ chat, message }) => (message === null ? [chat] : [])))
}

const ADD_PURGED = `
insert into cursordex.purged (machine, chat, message) select $1, chat, message
from unnest($2::text[], $3::text[]) as given (chat, message) on conflict do nothing
`
const DROP_ROWS = `delete from cursordex.chats where machine = $1 and chat = any ($2::text[])`

/** @returns how many rows went */
async function sendPurges(hub: Hub, db: Mirror, own: OwnMachine, all: readonly QueuedPurge[]): Promise<number> {
  const queue = all.filter(({ chat, message }) => !`${chat}${message ?? ''}`.includes('\0'))
  if (queue.length === 0) return 0
  return asOwnMachine(hub, db, own, async (counter) => {
    const noted = queue.filter(({ message }) => message !== null)
    const messages = noted.map(({ message }) => (message === '' ? null : message))
    await hub.change(ADD_PURGED, [own.uuid, noted.map(({ chat }) => chat), messages])
    const result = await hub.change(DROP_ROWS, [own.uuid, [...new Set(queue.map(({ chat }) => chat))]])
    return { counter, result }
  })
}

interface Packed {
  readonly chat: Wanted
  readonly object: Buffer
}

interface Tally {
  pushed: number
  bytes: number
  readonly leftOut: { id: string; why: string }[]
}

async function* send(
  hub: Hub,
  db: Mirror,
  order: PushOrder,
  chats: readonly Wanted[],
  tally: Tally,
): AsyncGenerator<Progress, void> {
  let batch: Packed[] = []
  let bytes = 0
  for (const [at, chat] of chats.entries()) {
    const packed = await packChat(db, chat, order.machine.uuid, order.isRedacted)
    const why = packed?.kind === 'damaged' ? packed.why : whyTooLarge(packed?.value)
    if (why !== null) tally.leftOut.push({ id: chat.id, why })
    else if (packed?.kind === 'sound') {
      batch.push({ chat, object: packed.value })
      bytes += packed.value.length
    }
    const isLast = at + 1 === chats.length
    if (batch.length === 0 || (!isLast && batch.length < BATCH_ROWS && bytes < BATCH_BYTES)) continue
    await sendBatch(hub, db, order, batch)
    tally.pushed += batch.length
    tally.bytes += bytes
    batch = []
    bytes = 0
    yield { done: at + 1, total: chats.length }
  }
}

const whyTooLarge = (object: Buffer | undefined): string | null =>
  object !== undefined && object.length > OBJECT_BYTES_MAX ? `it is ${object.length} bytes long, packed` : null

const COLUMNS = ['machine', 'chat', 'project', 'sequence', 'revision', 'redaction', 'object_version', 'object']
const UPSERT = (count: number): string => `
insert into cursordex.chats (${COLUMNS.join(', ')}) values
${Array.from({ length: count }, (_, row) => `(${COLUMNS.map((__, at) => `$${row * COLUMNS.length + at + 1}`).join(', ')})`).join(', ')}
on conflict (machine, chat) do update set ${COLUMNS.slice(2)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}
`

const sendBatch = (hub: Hub, db: Mirror, { machine, isRedacted }: PushOrder, batch: readonly Packed[]): Promise<void> =>
  asOwnMachine(hub, db, machine, async (counter) => {
    const values = batch.flatMap(({ chat, object }, at) => [
      machine.uuid,
      chat.id,
      chat.hubName,
      counter + at + 1,
      chat.revision,
      redactionOf(isRedacted),
      FORMAT_VERSION,
      object,
    ])
    await mustChange(hub, batch.length, UPSERT(batch.length), values)
    return { counter: counter + batch.length, result: undefined }
  })
