import type { HubPushed } from '../api/answers/hub.ts'
import type { Progress } from '../model/progress.ts'
import type { QueryResultRow } from 'pg'
import { UserError } from '../model/user-error.ts'
import { FORMAT_VERSION } from '../archive/archived-chat.ts'
import { listPushable, listQueue, type PushableChat, type QueuedPurge } from '../mirror/hub/hub.ts'
import type { Mirror } from '../mirror/open.ts'
import { isOfProject } from '../mirror/projects/exclusion.ts'
import { readHub, type Hub } from './client.ts'
import { asOwnMachine, type OwnMachine } from './machine.ts'
import { nameOfNone } from './meet.ts'
import { packChat, redactionOf } from './pack-chat.ts'

export interface PushOrder {
  readonly machine: OwnMachine
  /** Names, ids, paths or names at the hub. `*` is all. */
  readonly projects: readonly string[]
  /** True if a person named them now, false if the settings do. */
  readonly isNamed: boolean
  readonly isRedacted: boolean
  readonly isDryRun: boolean
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

/**
 * Sends purges first, and then the chats of the named projects that the hub does not have as they are now. What is
 * unchanged is the hub's word. It removes rows only for purges. Each batch is one transaction, so a push that was ended
 * continues with the next one.
 */
export async function* push(hub: Hub, db: Mirror, order: PushOrder): AsyncGenerator<Progress, PushResult> {
  const { machine, isDryRun } = order
  const { role } = await readHub(hub)
  const queue = listQueue(db)
  const removed = isDryRun ? 0 : await sendPurges(hub, machine, queue)
  const purged = new Map((await hub.rows<Purged>(READ_PURGED)).map((row) => [row.chat, row]))
  const named = listWanted(db, role, order.projects).filter(({ id }) => purged.get(id)?.isWhole !== true)
  const { isBound, projects: allowed } = await readRights(hub)
  const mayPush = ({ hubName }: Wanted): boolean => !isBound || allowed.includes('*') || allowed.includes(hubName)
  const held = await readHeld(hub, machine.uuid)
  const mustWait = (chat: Wanted): boolean => !order.isNamed && waits(chat, held)
  const wanted = named.filter((chat) => mayPush(chat) && !mustWait(chat))
  const waiting = named.filter((chat) => mayPush(chat) && mustWait(chat))
  const refused = named.filter((chat) => !mayPush(chat))
  if (refused.length > 0 && wanted.length === 0) {
    throw notAllowed(role, [...new Set(refused.map(({ hubName }) => hubName))])
  }
  const state = [redactionOf(order.isRedacted), FORMAT_VERSION]
  // What is missing at the hub, or differs there.
  const changed = wanted.filter(
    ({ id, hubName, revision }) => held.get(id) !== [hubName, revision, ...state].join('\t'),
  )
  const sent = isDryRun
    ? { pushed: changed.length, bytes: 0, leftOut: [] }
    : yield* send(hub, db, order, { changed, purged })
  return {
    ...sent,
    leftOut: [
      ...refused.map(({ id, hubName }) => {
        const { message, hint } = notAllowed(role, [hubName])
        return { id, why: `${message} ${hint}` }
      }),
      ...waiting.map(({ id, hubName }) => ({ id, why: waitsFor(hubName) })),
      ...sent.leftOut,
    ],
    removed,
    unchanged: wanted.length - changed.length,
    purgesUpTo: isDryRun ? null : (queue.at(-1)?.num ?? null),
  }
}

/** Whoever named the project did not know that the chat belongs to it, unless the hub has it there. */
const waits = ({ id, hubName, isFound }: Wanted, held: ReadonlyMap<string, string>): boolean =>
  isFound === 1 && held.get(id)?.startsWith(`${hubName}\t`) !== true

/** How many chats of the projects in the settings wait for a push by hand. */
export async function countWaiting(
  hub: Hub,
  db: Mirror,
  { uuid, projects }: { readonly uuid: string; readonly projects: readonly string[] },
): Promise<number> {
  const { role } = await readHub(hub)
  const held = await readHeld(hub, uuid)
  return listWanted(db, role, projects).filter((chat) => waits(chat, held)).length
}

const waitsFor = (hubName: string): string =>
  `It came to its project by a working tree, the name of a folder or a merge. Send it with: cursordex hub push --project '${hubName}'`

function listWanted(db: Mirror, role: string, projects: readonly string[]): readonly Wanted[] {
  return listPushable(db).flatMap((chat) => {
    const { root } = chat
    const hubName = root === null ? nameOfNone(role) : chat.hubName
    // Its project came up after the names were given. The next push sends it. PostgreSQL stores no NUL.
    if (hubName === null || `${chat.id}${hubName}`.includes('\0')) return []
    const isLocal = root !== null && isOfProject(root, projects)
    return isLocal || projects.includes('*') || projects.includes(hubName) ? [{ ...chat, hubName }] : []
  })
}

interface Rights {
  /** False for the owner of the schema. */
  readonly isBound: boolean
  /** Names of projects; `*` is all. */
  readonly projects: readonly string[]
}

const RIGHTS = `
select row_security_active('cursordex.chats') as "isBound",
  array(select project from cursordex.grants where push) as projects
`

const readRights = async (hub: Hub): Promise<Rights> =>
  (await hub.rows<Rights & QueryResultRow>(RIGHTS))[0] ?? { isBound: true, projects: [] }

/** Which command would allow it. */
function notAllowed(role: string, projects: readonly string[]): UserError {
  const quoted = [role, ...projects].map((word) =>
    /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  )
  return new UserError(
    'hub-rights',
    `The role ${role} may not push to ${projects.join(', ')}.`,
    `The hub's owner can allow it: cursordex hub grant ${quoted.join(' --push ')}`,
  )
}

const LIST_ROWS = `
select chat, concat_ws(chr(9), project, revision, redaction, object_version) as state
from cursordex.chats where machine = $1
`

/** The chats that the hub has of a machine, each with its state there. */
async function readHeld(hub: Hub, uuid: string): Promise<ReadonlyMap<string, string>> {
  const rows = await hub.rows<{ chat: string; state: string }>(LIST_ROWS, [uuid])
  return new Map(rows.map(({ chat, state }) => [chat, state]))
}

/** What was purged of a chat. */
interface Purged {
  readonly chat: string
  readonly isWhole: boolean
  /** Ids of messages. */
  readonly messages: readonly string[]
}

/** What all machines of this role purged. It stays away from the hub, also when an old mirror was put back. */
const READ_PURGED = `
select chat, bool_or(message is null) as "isWhole", array_remove(array_agg(message), null) as messages
from cursordex.purged where owner = current_user group by chat
`

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

type Packed = Wanted & { readonly object: Buffer }

async function* send(
  hub: Hub,
  db: Mirror,
  order: PushOrder,
  { changed, purged }: { readonly changed: readonly Wanted[]; readonly purged: ReadonlyMap<string, Purged> },
): AsyncGenerator<Progress, Pick<PushResult, 'pushed' | 'bytes' | 'leftOut'>> {
  const sent = { pushed: 0, bytes: 0, leftOut: [] as { id: string; why: string }[] }
  let batch: Packed[] = []
  for (const [at, chat] of changed.entries()) {
    const without = purged.get(chat.id)?.messages ?? []
    const packed = await packChat(db, chat, { origin: order.machine.uuid, isRedacted: order.isRedacted, without })
    if (packed?.kind === 'damaged') sent.leftOut.push({ id: chat.id, why: packed.why })
    if (packed?.kind === 'sound') batch.push({ ...chat, object: packed.value })
    const bytes = batch.reduce((sum, { object }) => sum + object.length, 0)
    const isLast = at + 1 === changed.length
    if (batch.length === 0 || (!isLast && batch.length < BATCH_ROWS && bytes < BATCH_BYTES)) continue
    await sendBatch(hub, order, batch)
    sent.pushed += batch.length
    sent.bytes += bytes
    batch = []
    yield { done: at + 1, total: changed.length }
  }
  return sent
}

const UPSERT = `
insert into cursordex.chats (machine, chat, project, sequence, revision, redaction, object_version, object)
select $1, chat, project, $2 + at, revision, $3, $4, object
from unnest($5::text[], $6::text[], $7::bigint[], $8::bytea[]) with ordinality
  as given (chat, project, revision, object, at)
on conflict (machine, chat) do update set project = excluded.project, sequence = excluded.sequence,
  revision = excluded.revision, redaction = excluded.redaction, object_version = excluded.object_version,
  object = excluded.object
`

const sendBatch = (hub: Hub, { machine, isRedacted }: PushOrder, batch: readonly Packed[]): Promise<void> =>
  asOwnMachine(hub, machine, (counter) => {
    const values = [machine.uuid, counter, redactionOf(isRedacted), FORMAT_VERSION]
    const columns = (['id', 'hubName', 'revision', 'object'] as const).map((name) => batch.map((chat) => chat[name]))
    return hub.change(UPSERT, [...values, ...columns])
  })
