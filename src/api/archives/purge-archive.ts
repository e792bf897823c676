import type { ArchivedChat, ArchivedMessage, ArchivedObject } from '../../archive/archived-chat.ts'
import { objectPath, type ChatEntry, type Manifest } from '../../archive/manifest.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { ArchivedTargets } from '../../mirror/purge/begin-purge.ts'
import { isInProjects } from '../../mirror/purge/find-targets.ts'
import { matchingTexts, removedTexts, type MessageText } from '../../mirror/purge/message-texts.ts'
import { holdsAny, needlesOf, type PurgeScope } from '../../mirror/purge/scope.ts'
import type { Tombstones } from '../../mirror/purge/tombstones.ts'
import { asChatId, asMessageId, type ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { DamagedArchive, PurgeReport } from '../http/schemas/purge.ts'
import {
  BYTES_MAX,
  listObjects,
  listRunNames,
  readManifest,
  readObject,
  removeObject,
  removeUnfinished,
  syncFolders,
  writeManifest,
  writePlainFile,
} from './archive-files.ts'
import { requireWritten } from './make-run.ts'
import { packLines } from '../queries/archived-chat.ts'

export type ArchivePurge = PurgeReport['archives']

/** The runs of an archive folder, and the chat of each object that they name. */
class ArchiveFolder {
  readonly dir: string
  readonly runs: readonly Manifest[]
  /** Objects and runs that cannot be read. */
  readonly damaged: DamagedArchive[] = []
  readonly #chatIds = new Map<string, string>()

  constructor(dir: string) {
    this.dir = dir
    this.runs = listRunNames(dir).flatMap((name) => {
      const read = readManifest(dir, name)
      if (read.kind === 'damaged') this.damaged.push({ kind: 'run', name, chatId: null, why: read.why })
      if (read.kind === 'damaged') return []
      // A manifest that is written again gets a checksum of its own.
      const { sha256: _, ...run } = read.value
      return run
    })
    for (const { chats } of this.runs) for (const { id, object } of chats) this.#chatIds.set(object, id)
  }

  /**
   * Every object, one at a time, whether a run names it or not.
   * @param isExpected whether a damaged object of this chat is no loss
   */
  *objects(
    isExpected: (chatId: string) => boolean,
  ): Generator<{ hash: string; id: string; object: ArchivedObject | null }> {
    for (const hash of listObjects(this.dir)) {
      const read = readObject(this.dir, hash)
      const id = read.kind === 'sound' ? read.value.chat.id : (this.#chatIds.get(hash) ?? null)
      if (read.kind === 'sound') yield { hash, id: read.value.chat.id, object: read.value }
      else if (id !== null && isExpected(id)) yield { hash, id, object: null }
      else this.damaged.push({ kind: 'object', name: hash, chatId: id, why: read.why })
    }
  }
}

export interface ArchiveSurvey extends ArchivePurge {
  readonly targets: ArchivedTargets
  /** Those of the chats in the scope that are archived. */
  readonly chatIds: readonly string[]
}

/**
 * Looks for what a purge would remove from an archive folder. Writes nothing and takes no lock.
 * @param whole chats that the mirror removes as a whole
 */
export function surveyArchive(db: Mirror, dir: string, scope: PurgeScope, whole: ReadonlySet<string>): ArchiveSurvey {
  const folder = new ArchiveFolder(dir)
  const named = scope.chatIds === null ? null : archivedFamily(new ArchiveFolder(dir), scope.chatIds)
  const touched = new Set<string>()
  const archived = new Set<string>()
  /** Whether all that is archived of a chat is removed. */
  const isWhole = new Map<ChatId, boolean>()
  const targets: Found = { messages: new Map(), texts: [] }
  let messages = 0
  for (const { hash, id, object } of folder.objects((chatId) => whole.has(chatId))) {
    if (named?.has(id) === true) archived.add(id)
    if (object === null || whole.has(id)) {
      touched.add(hash)
      messages += object?.messages.length ?? 0
      continue
    }
    if (named?.has(id) === false || !isInScope(db, object.chat, scope)) continue
    const found = look(object, scope, targets)
    if (scope.match === null) isWhole.set(asChatId(id), found.isOver && isWhole.get(asChatId(id)) !== false)
    if (found.isTouched) touched.add(hash)
    messages += found.messages
  }
  const runs = folder.runs.filter(({ chats }) => chats.some(({ object }) => touched.has(object)))
  const chatIds = [...isWhole].flatMap(([id, isOver]) => (isOver ? [id] : []))
  return {
    objects: touched.size,
    runs: runs.map(({ name }) => name),
    messages,
    damaged: folder.damaged,
    targets: { chatIds, messages: [...targets.messages.values()], texts: targets.texts },
    chatIds: [...archived],
  }
}

/** These chats and their subagents, at any depth, as the archive knows them. */
function archivedFamily(folder: ArchiveFolder, ids: readonly string[]): ReadonlySet<string> {
  const children = new Map<string, string[]>()
  const add = (parent: string, child: string): void => {
    children.set(parent, [...(children.get(parent) ?? []), child])
  }
  for (const { id, object } of folder.objects(() => false)) {
    const { parentChatId = null, childChatIds = [] } = object?.chat ?? {}
    if (parentChatId !== null) add(parentChatId, id)
    for (const child of childChatIds) add(id, child)
  }
  // A set can grow while it is walked.
  const family = new Set(ids)
  for (const id of family) for (const child of children.get(id) ?? []) family.add(child)
  return family
}

interface Found {
  /** By chat and id: a message is often archived in several states of its chat. */
  readonly messages: Map<string, ArchivedTargets['messages'][number]>
  readonly texts: ArchivedTargets['texts'][number][]
}

/** What is removed of one object: how many messages, and whether that is all. */
function look(
  object: ArchivedObject,
  scope: PurgeScope,
  { messages, texts }: Found,
): { readonly messages: number; readonly isTouched: boolean; readonly isOver: boolean } {
  const { chat } = object
  const { beforeMs, match } = scope
  // The chat's own tombstone covers its messages.
  if (match === null && beforeMs === null) return { messages: object.messages.length, isTouched: true, isOver: true }
  const id = asChatId(chat.id)
  const times = timesOf(object)
  const needles = match === null ? null : needlesOf(match)
  let going = 0
  for (const message of object.messages) {
    if (beforeMs !== null && (times.get(message.id) ?? Infinity) >= beforeMs) continue
    if (needles !== null) {
      const matching = matchingTexts(JSON.stringify(message), needles, message.parts as readonly Part[])
      if (matching.length === 0) continue
      texts.push(...removedTexts(id, matching, scope))
    }
    messages.set(JSON.stringify([id, message.id]), { chatId: id, id: asMessageId(message.id) })
    going += 1
  }
  const isOver = beforeMs !== null && lastActivityMs(chat, times) < beforeMs
  if (needles === null) return { messages: going, isTouched: going > 0 || isOver, isOver }
  const facts = beforeMs === null ? factsOf(chat).filter(({ text }) => holdsAny(text, needles)) : []
  texts.push(...removedTexts(id, facts, scope))
  return { messages: going, isTouched: going > 0 || facts.length > 0, isOver: false }
}

/** The mirror knows the project of a chat best. For a chat that only the archive has, the archive's best evidence counts. */
function isInScope(db: Mirror, chat: ArchivedChat, { projectUris }: PurgeScope): boolean {
  if (projectUris === null) return true
  const [best] = chat.evidence
  return isInProjects(db, asChatId(chat.id), projectUris) ?? (best !== undefined && projectUris.includes(best.root.uri))
}

/** When messages were sent, epoch milliseconds: by their own time, or by the list of messages in the chat. */
function timesOf({ chat, messages }: ArchivedObject): ReadonlyMap<string, number> {
  const listed = (chat.outline ?? []).map(({ id, createdAt, startedAt }) => [id, createdAt ?? startedAt] as const)
  const own = messages.map((message) => [message.id, sentAt(message)] as const)
  return new Map([...listed, ...own].flatMap(([id, at]) => (id === null || at === null ? [] : [[id, Date.parse(at)]])))
}

/** The message's own time; null if it has none. */
const sentAt = ({ sentAt: at, startedAt, timingAt }: ArchivedMessage): string | null => at ?? startedAt ?? timingAt

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

/**
 * Removes what was purged from an archive folder. First objects are written under new names and read back, then the runs
 * that named them are written again, then the former objects are removed. After a crash it can simply run again. The
 * caller holds the folder's lock.
 * @param match is removed from the scopes of runs; null if the purge is not of a text
 */
export async function rewriteArchive(dir: string, tombstones: Tombstones, match: string | null): Promise<ArchivePurge> {
  removeUnfinished(dir)
  const folder = new ArchiveFolder(dir)
  const isPurged = (id: string): boolean => tombstones.hasChat(asChatId(id))
  /** By the former name of an object: what replaces it, null if it is removed. */
  const others = new Map<string, Pick<ChatEntry, 'object' | 'bytes' | 'messages'> | null>()
  let messages = 0
  for (const { hash, id, object } of folder.objects(isPurged)) {
    const rest = object === null || isPurged(id) ? null : withoutPurged(object, tombstones)
    if (rest === object && object !== null) continue
    messages += (object?.messages.length ?? 0) - (rest?.messages.length ?? 0)
    others.set(hash, rest === null ? null : await writeRest(dir, rest))
  }
  const runs: string[] = []
  for (const manifest of folder.runs) {
    const scope = scrubScope(manifest.scope, match)
    // The object of a purged chat may be missing already.
    const otherOf = ({ id, object }: ChatEntry) => (isPurged(id) ? null : others.get(object))
    if (scope === manifest.scope && manifest.chats.every((entry) => otherOf(entry) === undefined)) continue
    const chats = manifest.chats.flatMap((entry): ChatEntry[] => {
      const other = otherOf(entry)
      if (other === undefined) return [entry]
      return other === null ? [] : [{ ...entry, ...other, revision: 0 }]
    })
    await writeManifest(dir, { ...manifest, scope, chats })
    runs.push(manifest.name)
  }
  for (const hash of others.keys()) removeObject(dir, hash)
  await syncFolders(dir, [...others.keys()].map(objectPath))
  return { objects: others.size, messages, runs, damaged: folder.damaged }
}

async function writeRest(dir: string, { chat, messages }: ArchivedObject) {
  const lines = [{ ...chat, messageCount: messages.length }, ...messages].map((line) => `${JSON.stringify(line)}\n`)
  const { object, packed, messages: count } = packLines(lines, BYTES_MAX)
  await writePlainFile(dir, objectPath(object), packed)
  await syncFolders(dir, [objectPath(object)])
  requireWritten(dir, { id: chat.id, object })
  return { object, bytes: packed.length, messages: count }
}

/** The same object if nothing of it was purged. */
function withoutPurged(object: ArchivedObject, tombstones: Tombstones): ArchivedObject {
  const chatId = asChatId(object.chat.id)
  const messages = object.messages.filter((message) => {
    const at = sentAt(message)
    const place = { chatId, atMs: at === null ? null : Date.parse(at) }
    const parts = message.parts as readonly Part[]
    return !tombstones.hasMessage(chatId, asMessageId(message.id)) && !tombstones.hasTextIn(parts, place)
  })
  const chat = withoutPurgedFacts(object.chat, tombstones)
  if (messages.length === object.messages.length && chat === object.chat) return object
  const staying = new Set(messages.map(({ id }) => id))
  const gone = new Set(object.messages.flatMap(({ id }) => (staying.has(id) ? [] : [id])))
  // A restore derives the title from the messages again.
  return { chat: { ...chat, title: chat.name ?? '', outline: withoutEntries(chat.outline, gone) }, messages }
}

const noEntry = { id: null, role: null, createdAt: null, startedAt: null }

/** The order with a gap for each removed message, as in the mirror. */
function withoutEntries(outline: ArchivedChat['outline'], gone: ReadonlySet<string>): ArchivedChat['outline'] {
  if (outline === null || gone.size === 0) return outline
  const entries = outline.map((entry) => (entry.id !== null && gone.has(entry.id) ? noEntry : entry))
  return entries.slice(0, entries.findLastIndex(({ id }) => id !== null) + 1)
}

/** The same object if none of its facts were purged. */
function withoutPurgedFacts(chat: ArchivedChat, tombstones: Tombstones): ArchivedChat {
  const place = { chatId: asChatId(chat.id), atMs: null }
  const stays = (text: string | null): boolean => !tombstones.hasText(text, place)
  if (factsOf(chat).every(({ text }) => stays(text))) return chat
  const { name, summary, branch, todos, paths } = chat
  return {
    ...chat,
    name: stays(name) ? name : null,
    summary: stays(summary) ? summary : null,
    branch: stays(branch) ? branch : null,
    todos: todos.filter(({ content }) => stays(content)),
    paths: paths.filter(stays),
  }
}

/** The scope of a run without the text that is purged. The same object if the scope does not contain it. */
function scrubScope(scope: Manifest['scope'], match: string | null): Manifest['scope'] {
  const json = JSON.stringify(scope)
  const needles = match === null ? [] : needlesOf(match)
  if (!holdsAny(json, needles)) return scope
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && holdsAny(value, needles) ? '(purged)' : value,
  ) as Manifest['scope']
}
