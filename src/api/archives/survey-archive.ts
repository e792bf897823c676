import { ChatLines, type Decoded, damaged as because } from '../../archive/chat-file.ts'
import type { ArchivedChat, ArchivedMessage } from '../../archive/record.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { ArchivedTargets } from '../../mirror/purge/begin-purge.ts'
import { isInProjects } from '../../mirror/purge/find-targets.ts'
import { matchingTexts, removedTexts, type MessageText } from '../../mirror/purge/message-texts.ts'
import { holdsAny, needlesOf, type PurgeScope } from '../../mirror/purge/scope.ts'
import { asChatId, asMessageId, type ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { DamagedArchive } from '../http/schemas/purge.ts'
import { listObjects, saysWhy } from './archive-files.ts'
import { listRunNames, readManifest } from './manifest-files.ts'
import { readPacked, unpackLines } from './prove-object.ts'

/** An object of an archive with its lines: a message that stays keeps its exact bytes. */
export interface ReadObject {
  readonly hash: string
  readonly chat: ArchivedChat
  readonly messages: readonly { readonly message: ArchivedMessage; readonly line: string }[]
}

/** Every object of an archive folder, one at a time, whether a run names it or not. */
export async function* readObjects(dir: string): AsyncGenerator<ReadObject | DamagedArchive> {
  for (const hash of listObjects(dir)) {
    const read = await readObject(dir, hash)
    if (read.kind === 'sound') yield read.value
    else yield { kind: 'object', name: hash, chatId: namedChatId(dir, hash), why: read.why }
  }
}

async function readObject(dir: string, hash: string): Promise<Decoded<ReadObject>> {
  try {
    const lines = new ChatLines()
    const messages: { message: ArchivedMessage; line: string }[] = []
    for await (const line of unpackLines(readPacked(dir, hash))) {
      const message = lines.take(line)
      if (message !== null) messages.push({ message, line })
    }
    return { kind: 'sound', value: { hash, chat: lines.end(), messages } }
  } catch (error) {
    return because(saysWhy(error))
  }
}

/** The chat of a damaged object, from the run that names it. Null if none does. */
function namedChatId(dir: string, hash: string): string | null {
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    const entry = read.kind === 'damaged' ? undefined : read.value.chats.find(({ object }) => object === hash)
    if (entry !== undefined) return entry.id
  }
  return null
}

export interface ArchiveSurvey {
  /** How many objects contain something that is removed. */
  readonly objects: number
  /** Runs that name one of these objects. */
  readonly runs: readonly string[]
  /** How many messages, each counted as often as it is archived. */
  readonly messages: number
  /** Objects and runs that cannot be read. */
  readonly damaged: readonly DamagedArchive[]
  readonly targets: ArchivedTargets
  /** Those of the chats in the scope that are archived. */
  readonly chatIds: readonly string[]
}

/**
 * Looks for what a purge would remove from an archive folder. Writes nothing and takes no lock.
 * @param whole chats that the mirror removes as a whole
 */
export async function surveyArchive(
  db: Mirror,
  dir: string,
  scope: PurgeScope,
  whole: ReadonlySet<string>,
): Promise<ArchiveSurvey> {
  const named = scope.chatIds === null ? null : await archivedFamily(dir, scope.chatIds)
  const found: Found = { isWhole: new Map(), messages: new Map(), texts: [] }
  const touched = new Set<string>()
  const archived = new Set<string>()
  const damaged: DamagedArchive[] = []
  let messages = 0
  for await (const object of readObjects(dir)) {
    const isDamaged = 'kind' in object
    const id = isDamaged ? object.chatId : object.chat.id
    if (id !== null && named?.has(id) === true) archived.add(id)
    if (isDamaged) damaged.push(object)
    const going = isDamaged ? 0 : look(db, object, scope, { named, whole, found })
    const isTouched = isDamaged ? id !== null && whole.has(id) : going !== null
    if (isTouched) touched.add(isDamaged ? object.name : object.hash)
    messages += going ?? 0
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (read.value.chats.some(({ object }) => touched.has(object))) runs.push(name)
  }
  const chatIds = [...found.isWhole].flatMap(([id, isWhole]) => (isWhole ? [id] : []))
  const targets = { chatIds, messages: [...found.messages.values()], texts: found.texts }
  return { objects: touched.size, runs, messages, damaged, targets, chatIds: [...archived] }
}

/** These chats and their subagents, at any depth, as the archive knows them. */
async function archivedFamily(dir: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const children = new Map<string, string[]>()
  const add = (parent: string, child: string): void => {
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  for await (const object of readObjects(dir)) {
    if ('kind' in object) continue
    const { id, parentChatId, childChatIds } = object.chat
    if (parentChatId !== null) add(parentChatId, id)
    for (const child of childChatIds) add(id, child)
  }
  // A set can grow while it is walked.
  const family = new Set(ids)
  for (const id of family) for (const child of children.get(id) ?? []) family.add(child)
  return family
}

interface Found {
  /** Whether all that is archived of a chat is removed. */
  readonly isWhole: Map<ChatId, boolean>
  readonly messages: Map<string, ArchivedTargets['messages'][number]>
  readonly texts: ArchivedTargets['texts'][number][]
}

interface Sought {
  /** The chats in the scope; null if it names none. */
  readonly named: ReadonlySet<string> | null
  readonly whole: ReadonlySet<string>
  readonly found: Found
}

/** @returns how many messages of the object are removed; null if nothing of it is removed */
function look(
  db: Mirror,
  object: ReadObject,
  scope: PurgeScope,
  { named, whole, found: { isWhole, messages, texts } }: Sought,
): number | null {
  const { chat } = object
  const { beforeMs, match } = scope
  const id = asChatId(chat.id)
  if (whole.has(id)) return object.messages.length
  if (named?.has(id) === false || !isInScope(db, chat, scope)) return null
  if (match === null && beforeMs === null) {
    // The chat's own tombstone covers its messages.
    isWhole.set(id, true)
    return object.messages.length
  }
  const times = timesOf(object)
  const needles = match === null ? null : needlesOf(match)
  let going = 0
  for (const { message, line } of object.messages) {
    if (beforeMs !== null && (times.get(message.id) ?? Infinity) >= beforeMs) continue
    if (needles !== null) {
      const matching = matchingTexts(line, needles, message.parts as readonly Part[])
      if (matching.length === 0) continue
      texts.push(...removedTexts(id, matching, scope))
    }
    messages.set(JSON.stringify([id, message.id]), { chatId: id, id: asMessageId(message.id) })
    going += 1
  }
  if (needles === null) {
    const isOver = beforeMs !== null && lastActivityMs(chat, times) < beforeMs
    isWhole.set(id, isOver && isWhole.get(id) !== false)
    return going > 0 || isOver ? going : null
  }
  const facts = beforeMs === null ? factsOf(chat).filter(({ text }) => holdsAny(text, needles)) : []
  texts.push(...removedTexts(id, facts, scope))
  return going > 0 || facts.length > 0 ? going : null
}

/** The mirror knows the project of a chat best. For a chat that only the archive has, the archive's best evidence counts. */
function isInScope(db: Mirror, chat: ArchivedChat, { projectUris }: PurgeScope): boolean {
  if (projectUris === null) return true
  const [best] = chat.evidence
  return isInProjects(db, asChatId(chat.id), projectUris) ?? (best !== undefined && projectUris.includes(best.root.uri))
}

/** When messages were sent, epoch milliseconds: by their own time, or by the list of messages in the chat. */
function timesOf({ chat, messages }: ReadObject): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { id, createdAt, startedAt } of chat.outline ?? []) {
    const at = createdAt ?? startedAt
    if (id !== null && at !== null) times.set(id, Date.parse(at))
  }
  for (const { message } of messages) {
    const at = sentAtMs(message)
    if (at !== null) times.set(message.id, at)
  }
  return times
}

/** The message's own time, epoch milliseconds; null if it has none. */
export function sentAtMs({ sentAt, startedAt, timingAt }: ArchivedMessage): number | null {
  const at = sentAt ?? startedAt ?? timingAt
  return at === null ? null : Date.parse(at)
}

/** Infinity if unknown. */
function lastActivityMs({ createdAt, updatedAt }: ArchivedChat, times: ReadonlyMap<string, number>): number {
  const known = [...[createdAt, updatedAt].flatMap((at) => (at === null ? [] : Date.parse(at))), ...times.values()]
  return known.length === 0 ? Infinity : known.reduce((last, ms) => Math.max(last, ms))
}

const factsOf = ({ name, summary, branch, todos, paths }: ArchivedChat): readonly MessageText[] => [
  ...[name, summary, branch, ...todos.map(({ content }) => content)].flatMap((text) =>
    text === null ? [] : [{ text, isWords: true }],
  ),
  ...paths.map((text) => ({ text, isWords: false })),
]
