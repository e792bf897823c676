import type { ArchivedChat, ArchivedMessage } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { ArchivedTargets } from '../../../mirror/purge/begin-purge.ts'
import { isInProjects } from '../../../mirror/purge/find-targets.ts'
import { matchingTexts, removedTexts, type MessageText, type RemovedText } from '../../../mirror/purge/message-texts.ts'
import { holdsAny, needlesOf, type PurgeScope } from '../../../mirror/purge/scope.ts'
import { asChatId, asMessageId, type ChatId } from '../../../model/ids.ts'
import type { Part } from '../../../model/part.ts'
import { listRunNames, readManifest } from '../manifest-files.ts'
import { readObjects, type DamagedObject, type ReadObject } from './read-objects.ts'
import type { DamagedArchive } from '../../http/schemas/purge.ts'

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

interface Found {
  /** Whether all that is archived of a chat is removed. */
  readonly isWhole: Map<ChatId, boolean>
  readonly messages: Map<string, ArchivedTargets['messages'][number]>
  readonly texts: RemovedText[]
}

/**
 * Looks for what a purge would remove from an archive folder. Writes nothing and takes no lock.
 * @param whole chats that the mirror removes as a whole
 */
export function surveyArchive(db: Mirror, dir: string, scope: PurgeScope, whole: ReadonlySet<string>): ArchiveSurvey {
  const named = scope.chatIds === null ? null : archivedFamily(dir, scope.chatIds)
  const found: Found = { isWhole: new Map(), messages: new Map(), texts: [] }
  const touched = new Set<string>()
  const damaged: DamagedArchive[] = []
  const archived = new Set<string>()
  let messages = 0
  for (const object of readObjects(dir)) {
    const id = object.kind === 'sound' ? object.chat.id : object.chatId
    if (id !== null && named?.has(id) === true) archived.add(id)
    if (object.kind === 'damaged') damaged.push(describeDamaged(object))
    const all = object.kind === 'sound' ? object.messages.length : 0
    const isWhole = id !== null && whole.has(id)
    const going = isWhole
      ? all
      : object.kind === 'sound' && isNamed(db, object.chat, named, scope)
        ? look(object, scope, found)
        : null
    if (going !== null) touched.add(object.hash)
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

export const describeDamaged = ({ hash, chatId, why }: DamagedObject): DamagedArchive => ({
  kind: 'object',
  name: hash,
  chatId,
  why,
})

/** These chats and their subagents, at any depth, as the archive knows them. */
function archivedFamily(dir: string, ids: readonly string[]): ReadonlySet<string> {
  const children = new Map<string, string[]>()
  const add = (parent: string, child: string): void => {
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  for (const object of readObjects(dir)) {
    if (object.kind === 'damaged') continue
    const { id, parentChatId, childChatIds } = object.chat
    if (parentChatId !== null) add(parentChatId, id)
    for (const child of childChatIds) add(id, child)
  }
  // A set can grow while it is walked.
  const family = new Set(ids)
  for (const id of family) for (const child of children.get(id) ?? []) family.add(child)
  return family
}

/** The mirror knows the project of a chat best. For a chat that only the archive has, the archive's best evidence counts. */
function isNamed(
  db: Mirror,
  chat: ArchivedChat,
  named: ReadonlySet<string> | null,
  { projectUris }: PurgeScope,
): boolean {
  if (named !== null && !named.has(chat.id)) return false
  if (projectUris === null) return true
  const [best] = chat.evidence
  return isInProjects(db, asChatId(chat.id), projectUris) ?? (best !== undefined && projectUris.includes(best.root.uri))
}

/** @returns how many messages of the object are removed; null if nothing of it is removed */
function look(object: ReadObject, scope: PurgeScope, { isWhole, messages, texts }: Found): number | null {
  const { chat } = object
  const { beforeMs, match } = scope
  const id = asChatId(chat.id)
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
