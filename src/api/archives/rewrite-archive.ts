import { rewrittenRevision, type ChatEntry, type Manifest } from '../../archive/manifest.ts'
import { objectPath } from '../../archive/names.ts'
import type { ArchivedChat } from '../../archive/record.ts'
import { holdsAny, needlesOf } from '../../mirror/purge/scope.ts'
import type { Tombstones } from '../../mirror/purge/tombstones.ts'
import { TITLE_MESSAGES_MAX, titleOf } from '../../mirror/write/chats/derive-chat.ts'
import { asChatId, asMessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { DamagedArchive, PurgeReport } from '../http/schemas/purge.ts'
import { removeObject, removeUnfinished, syncFolders } from './archive-files.ts'
import { requireWritten, sumsOf, writeObject } from './make-run.ts'
import { listRunNames, readManifest, writeManifest } from './manifest-files.ts'
import { packLines } from './pack-object.ts'
import { readObjects, sentAtMs, type ReadObject } from './survey-archive.ts'

export type ArchivePurge = PurgeReport['archives']

interface Rewriting {
  readonly dir: string
  readonly tombstones: Tombstones
  /** By the former name of an object: the entry that replaces it, null if it is removed. */
  readonly others: Map<string, Omit<ChatEntry, 'revision' | 'id'> | null>
  /** The objects of subagents, drafts and empty chats, by their names after the purge. */
  readonly unlisted: Set<string>
  messages: number
}

/**
 * Removes what was purged from an archive folder. First objects are written under new names and read back, then the runs
 * that named them are written again, then the former objects are removed. After a crash it can simply run again. The
 * caller holds the folder's lock.
 * @param match is removed from the scopes of runs; null if the purge is not of a text
 */
export async function rewriteArchive(dir: string, tombstones: Tombstones, match: string | null): Promise<ArchivePurge> {
  removeUnfinished(dir)
  const rewriting: Rewriting = { dir, tombstones, others: new Map(), unlisted: new Set(), messages: 0 }
  const { others } = rewriting
  const damaged: DamagedArchive[] = []
  for await (const object of readObjects(dir)) {
    if (!('kind' in object)) await rewriteObject(rewriting, object)
    else if (object.chatId !== null && tombstones.hasChat(asChatId(object.chatId))) others.set(object.name, null)
    else damaged.push(object)
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (await rewriteRun(rewriting, read.value, match)) runs.push(name)
  }
  for (const hash of others.keys()) removeObject(dir, hash)
  await syncFolders(dir, [...others.keys()].map(objectPath))
  return { objects: others.size, messages: rewriting.messages, runs, damaged }
}

async function rewriteObject(rewriting: Rewriting, object: ReadObject): Promise<void> {
  const { dir, tombstones, others, unlisted } = rewriting
  const { chat, messages } = object
  if (tombstones.hasChat(asChatId(chat.id))) {
    rewriting.messages += messages.length
    others.set(object.hash, null)
    return
  }
  const rest = withoutPurged(object, tombstones)
  const left = rest ?? object
  const isUnlisted = chat.isSubagent || chat.isDraft || left.messages.every(({ message }) => message.isOrphan)
  let name = object.hash
  if (rest !== null) {
    const lines = [JSON.stringify(rest.chat), ...rest.messages.map(({ line }) => line)]
    const packed = packLines(lines.map((line) => `${line}\n`))
    const { content, bytes } = packed
    name = packed.hash
    await writeObject(dir, packed)
    await syncFolders(dir, [objectPath(name)])
    requireWritten(dir, { id: chat.id, object: name, bytes })
    rewriting.messages += messages.length - rest.messages.length
    others.set(object.hash, { object: name, content, bytes, messages: [...packed.messages] })
  }
  if (isUnlisted) unlisted.add(name)
}

/** Null if nothing of it was purged. */
function withoutPurged(
  { chat, messages }: ReadObject,
  tombstones: Tombstones,
): Pick<ReadObject, 'chat' | 'messages'> | null {
  const chatId = asChatId(chat.id)
  const left = messages.filter(
    ({ message }) =>
      !tombstones.hasMessage(chatId, asMessageId(message.id)) &&
      !tombstones.hasTextIn(message.parts as readonly Part[], { chatId, atMs: sentAtMs(message) }),
  )
  const facts = withoutPurgedFacts(chat, tombstones)
  if (left.length === messages.length && facts === chat) return null
  const staying = new Set(left.map(({ message }) => message.id))
  const gone = new Set(messages.flatMap(({ message: { id } }) => (staying.has(id) ? [] : [id])))
  const title = titleOf(facts.name, userParts(left)).title
  const outline = withoutEntries(facts.outline, gone)
  return { chat: { ...facts, title, outline, messageCount: left.length }, messages: left }
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
  const { name, summary, branch, todos, paths } = chat
  const isUntouched =
    [name, summary, branch].every(stays) && todos.every(({ content }) => stays(content)) && paths.every(stays)
  if (isUntouched) return chat
  return {
    ...chat,
    name: stays(name) ? name : null,
    summary: stays(summary) ? summary : null,
    branch: stays(branch) ? branch : null,
    todos: todos.filter(({ content }) => stays(content)),
    paths: paths.filter(stays),
  }
}

/** What a title can be derived from: the user's first messages. */
const userParts = (messages: ReadObject['messages']): readonly (readonly Part[])[] =>
  messages
    .map(({ message }) => message)
    .filter(({ role, isSimulated, isOrphan }) => role === 'user' && !isSimulated && !isOrphan)
    .slice(0, TITLE_MESSAGES_MAX)
    .map(({ parts }) => parts as readonly Part[])

/** @returns whether anything in the run had to change */
async function rewriteRun(
  { dir, others, tombstones, unlisted }: Rewriting,
  manifest: Manifest,
  match: string | null,
): Promise<boolean> {
  const { leftOut: before = [], ...rest } = manifest
  const scope = scrubScope(manifest.scope, match)
  const leftOut = before.filter(({ id }) => !tombstones.hasChat(asChatId(id)))
  const isSame = scope === manifest.scope && leftOut.length === before.length
  // The object of a purged chat may be missing already.
  const otherOf = ({ id, object }: ChatEntry) => (tombstones.hasChat(asChatId(id)) ? null : others.get(object))
  if (isSame && manifest.chats.every((entry) => otherOf(entry) === undefined)) return false
  const chats = manifest.chats.flatMap((entry): ChatEntry[] => {
    const other = otherOf(entry)
    if (other === undefined) return [entry]
    return other === null ? [] : [{ ...entry, ...other, revision: rewrittenRevision(entry.revision) }]
  })
  const sums = sumsOf(chats, ({ object }) => unlisted.has(object))
  await writeManifest(dir, { ...rest, ...(leftOut.length === 0 ? {} : { leftOut }), scope, ...sums, chats })
  return true
}

/** The scope of a run without the text that is purged. The same object if the scope does not contain it. */
export function scrubScope(scope: Manifest['scope'], match: string | null): Manifest['scope'] {
  if (match === null || scope === null) return scope
  const needles = needlesOf(match)
  const json = JSON.stringify(scope)
  if (!holdsAny(json, needles)) return scope
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && holdsAny(value, needles) ? '(purged)' : value,
  ) as Manifest['scope']
}
