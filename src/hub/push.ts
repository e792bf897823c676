import type { HubPushed } from '../api/http/schemas/hub.ts'
import type { Progress } from '../api/http/schemas/archives.ts'
import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import { listPushable, listQueue, type PushableChat, type QueuedPurge } from '../mirror/hub/own-side.ts'
import type { Mirror } from '../mirror/open.ts'
import { isOfProject } from '../mirror/projects/match-project.ts'
import { readHub, type Hub } from './client.ts'
import { asOwnMachine, mustChange, type OwnMachine } from './machine.ts'
import { nameOfNone } from './meet.ts'
import { packChat, redactionOf } from './pack-chat.ts'
import { hashOf, hashSql } from './rows-hash.ts'

export interface PushOrder {
  readonly machine: OwnMachine
  /** Names, ids, paths or names at the hub. `*` is all. */
  readonly projects: readonly string[]
  readonly isRedacted: boolean
  readonly isDryRun: boolean
  /** Chats that went on after this time wait. Null sends all at once. Epoch milliseconds. */
  readonly quietSinceMs: number | null
}

export interface PushResult extends Omit<HubPushed, 'notice'> {
  /** The number of the last purge that the hub knows now. Null if none was sent. */
  readonly purgesUpTo: number | null
}

/** A chat with the name of its project. */
type Wanted = PushableChat & { readonly hubName: string }

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
export async function* push(hub: Hub, db: Mirror, order: PushOrder): AsyncGenerator<Progress, PushResult> {
  const { machine, isDryRun, quietSinceMs } = order
  const { role } = await readHub(hub)
  const queue = listQueue(db)
  const removed = isDryRun ? 0 : await sendPurges(hub, machine, queue)
  const purged = await readPurged(hub)
  const wanted = listWanted(db, role, order.projects).filter(({ id }) => !purged.chats.has(id))
  const changed = await changedOf(hub, wanted, order)
  const isWaiting = ({ activityMs }: Wanted): boolean => quietSinceMs !== null && (activityMs ?? 0) > quietSinceMs
  const sending = changed.filter((chat) => !isWaiting(chat))
  const sent = { pushed: 0, bytes: 0, leftOut: [] as { id: string; why: string }[] }
  if (isDryRun) sent.pushed = sending.length
  else yield* send(hub, db, order, { sending, messages: purged.messages }, sent)
  return {
    ...sent,
    removed,
    unchanged: wanted.length - changed.length,
    waiting: changed.filter(isWaiting).map(({ id }) => id),
    purgesUpTo: isDryRun ? null : (queue.at(-1)?.num ?? null),
  }
}

function listWanted(db: Mirror, role: string, projects: readonly string[]): readonly Wanted[] {
  return listPushable(db).flatMap((chat) => {
    const { uri, path, name } = chat
    const hubName = uri === null ? nameOfNone(role) : chat.hubName
    // Its project came up after the names were given. The next push sends it. PostgreSQL stores no NUL.
    if (hubName === null || `${chat.id}${hubName}`.includes('\0')) return []
    const isLocal = uri !== null && isOfProject({ uri, path: path ?? '', name: name ?? '' }, projects)
    return isLocal || projects.includes('*') || projects.includes(hubName) ? [{ ...chat, hubName }] : []
  })
}

const STATE = 'chat, project, revision, redaction, object_version'
const SUM_UP = `
select count(*)::int as count, ${hashSql(STATE)} as hash from cursordex.chats where machine = $1
`
const LIST_ROWS = `
select chat, concat_ws(chr(9), ${STATE}) as state from cursordex.chats where machine = $1
`

/** Compares all rows by one hash, and reads them only if it differs. */
async function changedOf(hub: Hub, wanted: readonly Wanted[], { machine, isRedacted }: PushOrder): Promise<Wanted[]> {
  const stateOf = ({ id, hubName, revision }: Wanted): readonly (string | number)[] => [
    id,
    hubName,
    revision,
    redactionOf(isRedacted),
    FORMAT_VERSION,
  ]
  const [sum] = await hub.rows<{ count: number; hash: string }>(SUM_UP, [machine.uuid])
  if (sum?.count === wanted.length && sum.hash === hashOf(wanted.map(stateOf))) return []
  const rows = await hub.rows<{ chat: string; state: string }>(LIST_ROWS, [machine.uuid])
  const held = new Map(rows.map(({ chat, state }) => [chat, state]))
  return wanted.filter((chat) => held.get(chat.id) !== stateOf(chat).join('\t'))
}

interface Purged {
  /** Chats that were purged whole. */
  readonly chats: ReadonlySet<string>
  /** Ids of messages, by their chats. */
  readonly messages: ReadonlyMap<string, readonly string[]>
}

const READ_PURGED = `select chat, message from cursordex.purged where owner = current_user`

/** What all machines of this role purged. It stays away from the hub, also when an old mirror was put back. */
async function readPurged(hub: Hub): Promise<Purged> {
  const chats = new Set<string>()
  const messages = new Map<string, string[]>()
  for (const { chat, message } of await hub.rows<{ chat: string; message: string | null }>(READ_PURGED)) {
    if (message === null) chats.add(chat)
    else messages.set(chat, [...(messages.get(chat) ?? []), message])
  }
  return { chats, messages }
}

const ADD_PURGED = `
insert into cursordex.purged (machine, chat, message) select $1, chat, message
from unnest($2::text[], $3::text[]) as given (chat, message) on conflict do nothing
`
/** Also those that this mirror sent before it was put back. */
const DROP_ROWS = `
delete from cursordex.chats where machine in ($1, $2) and owner = current_user and chat = any ($3::text[])
`

/** @returns how many rows went */
async function sendPurges(hub: Hub, own: OwnMachine, all: readonly QueuedPurge[]): Promise<number> {
  const queue = all.filter(({ chat, message }) => !`${chat}${message ?? ''}`.includes('\0'))
  let removed = 0
  if (queue.length === 0) return removed
  await asOwnMachine(hub, own, async () => {
    const noted = queue.filter(({ message }) => message !== null)
    const messages = noted.map(({ message }) => (message === '' ? null : message))
    await hub.change(ADD_PURGED, [own.uuid, noted.map(({ chat }) => chat), messages])
    removed = await hub.change(DROP_ROWS, [own.uuid, own.former, [...new Set(queue.map(({ chat }) => chat))]])
    return 0
  })
  return removed
}

interface Packed {
  readonly chat: Wanted
  readonly object: Buffer
}

async function* send(
  hub: Hub,
  db: Mirror,
  order: PushOrder,
  { sending, messages }: { readonly sending: readonly Wanted[]; readonly messages: Purged['messages'] },
  sent: { pushed: number; bytes: number; readonly leftOut: { id: string; why: string }[] },
): AsyncGenerator<Progress, void> {
  let batch: Packed[] = []
  let bytes = 0
  for (const [at, chat] of sending.entries()) {
    const without = messages.get(chat.id) ?? []
    const packed = await packChat(db, chat, { origin: order.machine.uuid, isRedacted: order.isRedacted, without })
    if (packed?.kind === 'damaged') sent.leftOut.push({ id: chat.id, why: packed.why })
    else if (packed !== null && packed.value.length > OBJECT_BYTES_MAX) {
      sent.leftOut.push({ id: chat.id, why: `it is ${packed.value.length} bytes long, packed` })
    } else if (packed !== null) {
      batch.push({ chat, object: packed.value })
      bytes += packed.value.length
    }
    const isLast = at + 1 === sending.length
    if (batch.length === 0 || (!isLast && batch.length < BATCH_ROWS && bytes < BATCH_BYTES)) continue
    await sendBatch(hub, order, batch)
    sent.pushed += batch.length
    sent.bytes += bytes
    batch = []
    bytes = 0
    yield { done: at + 1, total: sending.length }
  }
}

const COLUMNS = ['machine', 'chat', 'project', 'sequence', 'revision', 'redaction', 'object_version', 'object']
const UPDATES = COLUMNS.slice(2).map((name) => `${name} = excluded.${name}`)

/** One statement for all rows. @param count how many rows */
function upsert(count: number): string {
  const rowAt = (row: number): string => COLUMNS.map((_, at) => `$${row * COLUMNS.length + at + 1}`).join(', ')
  const rows = Array.from({ length: count }, (_, row) => `(${rowAt(row)})`)
  return `
insert into cursordex.chats (${COLUMNS.join(', ')}) values ${rows.join(', ')}
on conflict (machine, chat) do update set ${UPDATES.join(', ')}
`
}

const sendBatch = (hub: Hub, { machine, isRedacted }: PushOrder, batch: readonly Packed[]): Promise<void> =>
  asOwnMachine(hub, machine, async (counter) => {
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
    await mustChange(hub, batch.length, upsert(batch.length), values)
    return batch.length
  })
