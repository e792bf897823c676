import { dirname, join } from 'node:path'
import { rewrittenRevision, type ChatEntry, type Manifest, type SealedManifest } from '../../../archive/manifest.ts'
import { objectPath } from '../../../archive/names.ts'
import type { ArchivedChat } from '../../../archive/record.ts'
import type { Tombstones } from '../../../mirror/purge/tombstones.ts'
import { TITLE_MESSAGES_MAX, titleOf } from '../../../mirror/write/chats/derive-chat.ts'
import { asChatId, asMessageId } from '../../../model/ids.ts'
import type { Part } from '../../../model/part.ts'
import { UserError } from '../../../model/user-error.ts'
import { listRunNames, readManifest, writeManifest } from '../manifest-files.ts'
import { removeUnfinished, syncFolders, writeObjects } from '../object-files.ts'
import { layOut, packRest } from '../pack-object.ts'
import { isFolder, removeFile } from '../plain-files.ts'
import { examineObject } from '../prove-object.ts'
import { readObjects, type ReadObject } from './read-objects.ts'
import { scrubScope } from './scrub-scope.ts'
import { describeDamaged, sentAtMs } from './survey-archive.ts'
import type { DamagedArchive, PurgeReport } from '../../http/schemas/purge.ts'

export type ArchivePurge = PurgeReport['archives']

interface Rewriting {
  readonly dir: string
  readonly tombstones: Tombstones
  /** By the former name of an object: the entry that replaces it, null if it is removed. */
  readonly others: Map<string, Omit<ChatEntry, 'revision' | 'id'> | null>
  readonly damaged: DamagedArchive[]
  /** The objects of subagents, drafts and empty chats, by their names after the purge. */
  readonly unlisted: Set<string>
  messages: number
}

/**
 * Removes what was purged from an archive folder. First objects are written under new names and read back, then the runs
 * that named them are sealed again, then the former objects are removed. After a crash it can simply run again. The
 * caller holds the folder's lock.
 * @param match is removed from the scopes of runs; null if the purge is not of a text
 */
export async function rewriteArchive(dir: string, tombstones: Tombstones, match: string | null): Promise<ArchivePurge> {
  removeUnfinished(dir)
  const rewriting: Rewriting = { dir, tombstones, others: new Map(), damaged: [], unlisted: new Set(), messages: 0 }
  const { others, damaged } = rewriting
  for (const object of readObjects(dir)) {
    if (object.kind === 'sound') await rewriteObject(rewriting, object)
    else {
      const isGone = object.chatId !== null && tombstones.hasChat(asChatId(object.chatId))
      if (isGone) others.set(object.hash, null)
      // A folder in place of an object is not ours and is not removed.
      if (!isGone || isFolder(join(dir, objectPath(object.hash)))) damaged.push(describeDamaged(object))
    }
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (await rewriteRun(rewriting, read.value, match)) runs.push(name)
  }
  const former = [...others.keys()].map((hash) => join(dir, objectPath(hash)))
  for (const path of former) removeFile(path)
  await syncFolders(new Set(former.map((path) => dirname(path))))
  return { objects: others.size, messages: rewriting.messages, runs, damaged }
}

async function rewriteObject(rewriting: Rewriting, object: ReadObject): Promise<void> {
  const { dir, tombstones, others } = rewriting
  const { chat, messages } = object
  if (tombstones.hasChat(asChatId(chat.id))) {
    rewriting.messages += messages.length
    others.set(object.hash, null)
    return
  }
  const rest = withoutPurged(object, tombstones)
  const isUnlisted =
    chat.isSubagent || chat.isDraft || (rest ?? object).messages.every(({ message }) => message.isOrphan)
  if (rest === null) {
    if (isUnlisted) rewriting.unlisted.add(object.hash)
    return
  }
  const lines = [JSON.stringify(rest.chat), ...rest.messages.map(({ line }) => line)]
  const packed = await packRest(layOut(lines.map((line) => `${line}\n`)))
  await syncFolders(await writeObjects(dir, [packed]))
  const proof = examineObject(dir, packed.hash)
  if (proof.kind === 'damaged' || proof.value.content !== packed.content) {
    const text = `The rewritten archive of the chat ${chat.id} cannot be read back as it was written.`
    throw new UserError('archive-unproven', text, `Check the disk of ${dir}; the former archive is intact.`)
  }
  rewriting.messages += messages.length - rest.messages.length
  const { hash, content, bytes } = packed
  if (isUnlisted) rewriting.unlisted.add(hash)
  others.set(object.hash, { object: hash, content, bytes, messages: [...packed.messages] })
}

/** Null if nothing of it was purged. Messages that stay keep their exact bytes. */
function withoutPurged(
  { chat, messages }: ReadObject,
  tombstones: Tombstones,
): Pick<ReadObject, 'chat' | 'messages'> | null {
  const chatId = asChatId(chat.id)
  const isPurged = ({ message }: ReadObject['messages'][number]): boolean =>
    tombstones.hasMessage(chatId, asMessageId(message.id)) ||
    tombstones.hasTextIn(message.parts as readonly Part[], { chatId, atMs: sentAtMs(message) })
  const left = messages.filter((message) => !isPurged(message))
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
  const facts = {
    name: stays(chat.name) ? chat.name : null,
    summary: stays(chat.summary) ? chat.summary : null,
    branch: stays(chat.branch) ? chat.branch : null,
    todos: chat.todos.filter(({ content }) => stays(content)),
    paths: chat.paths.filter(stays),
  }
  const { name, summary, branch, todos, paths } = chat
  return JSON.stringify(facts) === JSON.stringify({ name, summary, branch, todos, paths })
    ? chat
    : { ...chat, ...facts }
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
  sealed: SealedManifest,
  match: string | null,
): Promise<boolean> {
  const { sha256: _, leftOut: before = [], ...manifest } = sealed
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
  const sizes = new Map(chats.map(({ object, bytes }) => [object, bytes]))
  const rewritten: Manifest = {
    ...manifest,
    ...(leftOut.length === 0 ? {} : { leftOut }),
    scope,
    chatCount: chats.length,
    unlistedCount: chats.filter(({ object }) => unlisted.has(object)).length,
    messageCount: chats.reduce((sum, { messages }) => sum + messages.length, 0),
    bytes: [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
    chats,
  }
  await writeManifest(dir, rewritten)
  return true
}
