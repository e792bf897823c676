import type { HubPushed } from '../api/answers/hub.ts'
import type { Progress } from '../model/progress.ts'
import { UserError } from '../model/user-error.ts'
import { type ArchivedChat, type ArchivedMessage, type Decoded, FORMAT_VERSION } from '../archive/archived-chat.ts'
import {
  type LocalProject,
  type PushableChat,
  type PushingMachine,
  type QueuedPurge,
  countMessages,
  listPushable,
  listQueue,
  listUnnamed,
} from '../mirror/hub/hub.ts'
import type { Mirror } from '../mirror/open.ts'
import { isOfProject } from '../mirror/projects/exclusion.ts'
import { type Hub, type HubFacts, readHub } from './client.ts'
import { HUB_LIMITS } from '../api/archives/archive-files.ts'
import { packChat as packArchived } from '../api/queries/archived-chat.ts'
import { Masking } from '../api/export/redact/masking.ts'
import { REDACTION_VERSION } from '../api/export/redact/rules.ts'
import { NAME_BYTES_MAX, OBJECT_BYTES_MAX } from './schema.ts'
import { createHmac } from 'node:crypto'
import type { Histories } from '../git/histories.ts'

export type Meeting = Awaited<ReturnType<typeof meet>>

const LAST_PUSH = `select value from cursordex.machines where uuid = $1`

/** What the mirror has to know before a push or a pull. @param uuid of this machine */
export async function meet(
  hub: Hub,
  db: Mirror,
  histories: Pick<Histories, 'remote'>,
  { uuid, isRedacted }: { readonly uuid: string; readonly isRedacted: boolean },
) {
  const facts = await readHub(hub)
  const names: { uri: string; name: string }[] = []
  for (const project of listUnnamed(db)) {
    names.push({ uri: project.uri, name: await nameOfProject(project, facts, isRedacted, histories) })
  }
  const [machine] = await hub.rows<{ value: string | null }>(LAST_PUSH, [uuid])
  // `names`: of projects that had none at the hub yet. `lastPush`: the number of the last push of this machine that the hub
  // knows; 0: none. Earlier versions wrote random letters.
  return { names, lastPush: Number(machine?.value) || 0 }
}

/** The name for chats of this role that belong to no project. */
export const nameOfNone = (role: string): string => `${role} (none)`

/**
 * The name of a project at the hub: its git remote, so that all clones are one project, else the role and the folder. While
 * redaction is on, the folder's path is hashed, and its last part is a label.
 */
async function nameOfProject(
  { uri, path, name }: LocalProject,
  { role, salt }: HubFacts,
  isRedacted: boolean,
  histories: Pick<Histories, 'remote'>,
): Promise<string> {
  const url = uri.startsWith('file:///') ? await histories.remote(path) : null
  const remote = url === null ? null : normaliseRemote(url)
  if (remote !== null) return remote
  if (!isRedacted) return `${role} ${uri}`
  return `${role} ${name}#${createHmac('sha256', salt).update(uri).digest('hex').slice(0, 16)}`
}

/**
 * `github.com/acme/app` for all ways to write it: https, ssh, scp-like, with user, password, port or `.git`. Null for a
 * folder of this machine.
 */
export function normaliseRemote(url: string): string | null {
  const trimmed = url.trim()
  const scp = /^(?:[^@/\s]+@)?([^:/\s]{2,}):(?!\/\/)(.+)$/.exec(trimmed)
  const full = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:?#]+)(?::\d+)?\/([^?#]*)/i.exec(trimmed)
  const [, host, path] = full ?? scp ?? []
  if (host === undefined || path === undefined || /^file:/i.test(trimmed)) return null
  const clean = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '')
  return clean === '' ? null : `${host.toLowerCase()}/${clean}`
}

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

/** `isBound` is false for the owner of the schema. `*` is all projects. */
const RIGHTS = `
select row_security_active('cursordex.chats') as "isBound",
  array(select project from cursordex.grants where push) as projects
`

const readRights = async (hub: Hub) =>
  (await hub.rows<{ isBound: boolean; projects: string[] }>(RIGHTS))[0] ?? { isBound: true, projects: [] }

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

/** This mirror as a machine of the hub. The mirror has noted the number of this push already. */
export interface OwnMachine extends PushingMachine {
  readonly label: string
}

/** A hub that was restored from a backup has an older counter, and readers have seen larger numbers. Its clock is ahead. */
const LOCK = `
select greatest(counter, floor(extract(epoch from clock_timestamp()) * 1000))::float8 as counter
from cursordex.machines where uuid = $1 and owner = current_user for update
`
/** A mirror that was put back keeps its label, and the machine that it was gets another one. */
const FREE_LABEL = `
update cursordex.machines set label = label || ' ' || left(uuid, 8) where owner = current_user and label = $1
`
const REGISTER = `insert into cursordex.machines (uuid, label) values ($1, $2) on conflict (uuid) do nothing`
const COUNT = `
update cursordex.machines set value = $2, counter = $3, label = $4, pushed_at = clock_timestamp() where uuid = $1
`

/**
 * Runs a batch of this machine in one transaction: its row is locked, so there is one writer a machine, and no number of
 * the batch appears after a larger one.
 * @param act gets the machine's counter, and returns by how much it grows
 * @throws UserError `hub-foreign-machine`, `hub-label-taken`
 */
export const asOwnMachine = (hub: Hub, own: OwnMachine, act: (counter: number) => Promise<number>): Promise<void> =>
  hub.transaction(async () => {
    const counter = (await lock(hub, own)) ?? (await register(hub, own))
    await hub.change(COUNT, [own.uuid, String(own.number), counter + (await act(counter)), own.label])
  })

const lock = async (hub: Hub, { uuid }: OwnMachine): Promise<number | undefined> =>
  (await hub.rows<{ counter: number }>(LOCK, [uuid]))[0]?.counter

async function register(hub: Hub, own: OwnMachine): Promise<number> {
  if (own.former !== null) await hub.change(FREE_LABEL, [own.label])
  await hub.change(REGISTER, [own.uuid, own.label])
  const counter = await lock(hub, own)
  if (counter !== undefined) return counter
  throw new UserError(
    'hub-foreign-machine',
    `At the hub, this mirror (${own.label}) belongs to another role.`,
    'Push as the role that pushed before.',
  )
}

/** The version of the rules by which a row was redacted; 0 if it was not. */
export const redactionOf = (isRedacted: boolean): number => (isRedacted ? REDACTION_VERSION : 0)

interface Packing {
  /** The uuid of this machine. */
  readonly origin: string
  readonly isRedacted: boolean
  /** Ids of messages that stay away. */
  readonly without: readonly string[]
}

/**
 * A chat as an object of the hub. It is an object of an archive whose first line names only the project of the chat.
 * @returns null if the chat was purged meanwhile
 */
export async function packChat(db: Mirror, chat: PushableChat, packing: Packing): Promise<Decoded<Buffer> | null> {
  if ([chat.id, chat.hubName ?? ''].some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX)) {
    return { kind: 'damaged', why: `its id or the name of its project has more than ${NAME_BYTES_MAX} bytes` }
  }
  const change = (lines: Iterable<string>) => rewritten(db, lines, chat, packing)
  const packed = packArchived(db, chat.num, packing.origin, { change, limits: HUB_LIMITS })
  if (packed?.kind !== 'sound') return packed
  const { packed: value } = packed.value
  return value.length > OBJECT_BYTES_MAX
    ? { kind: 'damaged', why: `packed it is longer than ${OBJECT_BYTES_MAX / 1024 ** 2} MB` }
    : { kind: 'sound', value }
}

function* rewritten(db: Mirror, lines: Iterable<string>, chat: PushableChat, packing: Packing): Generator<string> {
  const { isRedacted, without } = packing
  const masking = isRedacted ? new Masking() : null
  let isFirst = true
  for (const line of lines) {
    if (isFirst) {
      const first = firstLine(JSON.parse(line) as ArchivedChat, chat, masking)
      const messageCount = first.messageCount - countMessages(db, chat.num, JSON.stringify(without))
      yield `${JSON.stringify({ ...first, messageCount })}\n`
    } else if (masking === null && without.length === 0) yield line
    else {
      const message = JSON.parse(line) as ArchivedMessage
      const masked = masking === null ? message : { ...message, parts: masking.mask(message.parts) }
      if (!without.includes(message.id)) yield `${JSON.stringify(masked)}\n`
    }
    isFirst = false
  }
}

/** Ids stay, because the order of the chat and its subagents go by them. The path of a folder often names its owner. */
function firstLine(given: ArchivedChat, chat: PushableChat, masking: Masking | null): ArchivedChat {
  const { method, root, hubName } = chat
  const hidden = hubName ?? ''
  const named = root === null || masking === null ? root : { uri: hidden, path: hidden, name: root.name, remote: null }
  const facts = {
    ...given,
    evidence: method === null || named === null ? [] : [{ method, rank: 0, root: named }],
    paths: [],
  }
  if (masking === null) return facts
  const { title, name, summary, todos, branch, evidence } = facts
  return { ...facts, ...masking.mask({ title, name, summary, todos, branch, evidence }) }
}
