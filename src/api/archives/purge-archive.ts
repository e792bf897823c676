import { existsSync } from 'node:fs'
import type { ArchivedObject } from '../../archive/archived-chat.ts'
import { objectPath, type ChatEntry, type Manifest } from '../../archive/manifest.ts'
import type { Mirror } from '../../mirror/open.ts'
import { Bars } from '../../mirror/purge/bars.ts'
import { holdsAny, needlesOf } from '../../mirror/purge/scope.ts'
import { asChatId, asMessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { DamagedArchive, PurgeReport } from '../http/schemas/purge.ts'
import { packChat, readIdentity } from '../queries/archived-chat.ts'
import { findChatNum } from '../queries/chats/get-chat.ts'
import * as files from './archive-files.ts'
import { requireWritten } from './make-run.ts'

type ArchivePurge = PurgeReport['archives']

function readRuns(dir: string): { readonly runs: readonly Manifest[]; readonly damaged: DamagedArchive[] } {
  const damaged: DamagedArchive[] = []
  const runs = (existsSync(dir) ? files.listRunNames(dir) : []).flatMap((name): Manifest[] => {
    const read = files.readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    if (read.kind === 'damaged') return []
    // A manifest that is written again gets a checksum of its own.
    const { sha256: _, ...run } = read.value
    return [run]
  })
  return { runs, damaged }
}

export interface ArchiveSurvey {
  readonly report: ArchivePurge
  /** All that are archived. */
  readonly chatIds: ReadonlySet<string>
}

/**
 * What a purge would change in an archive folder, by its manifests alone.
 * @param going how many messages of each chat the mirror would lose
 */
export function surveyArchives(dir: string, going: ReadonlyMap<string, number>): ArchiveSurvey {
  const { runs, damaged } = readRuns(dir)
  const touched = runs.map(({ name, chats }) => ({ name, chats: chats.filter(({ id }) => going.has(id)) }))
  const objects = new Map(touched.flatMap(({ chats }) => chats.map((entry) => [entry.object, entry] as const)))
  const messages = [...objects.values()].map((entry) => Math.min(entry.messages, going.get(entry.id) ?? 0))
  const report = {
    objects: objects.size,
    messages: messages.reduce((sum, count) => sum + count, 0),
    runs: touched.filter(({ chats }) => chats.length > 0).map(({ name }) => name),
    damaged,
  }
  return { report, chatIds: new Set(runs.flatMap(({ chats }) => chats.map(({ id }) => id))) }
}

export interface ArchivesOrder {
  readonly dir: string
  /** Whether the mirror has all that the archives have. */
  readonly isRestored: boolean
  /** Is in no object afterwards. Null if the purge is not of a text. */
  readonly match: string | null
}

/**
 * Replaces archived chats that have something barred by what the mirror still has of them. First objects are written under
 * new names and read back, then the runs that named them are written again, then the former objects are removed. After a
 * crash it can simply run again. The caller holds the folder's lock.
 * @param db the mirror  @param user a connection with the bars
 * @returns null if the archives have to be restored first; then nothing was changed
 */
export async function purgeArchives(
  { dir, isRestored, match }: ArchivesOrder,
  db: Mirror,
  user: Mirror,
): Promise<ArchivePurge | null> {
  files.removeUnfinished(dir)
  const bars = new Bars(user)
  const needles = match === null ? [] : needlesOf(match)
  const { runs, damaged } = readRuns(dir)
  const chatOf = new Map(runs.flatMap(({ chats }) => chats.map(({ id, object }) => [object, id] as const)))
  const isPurged = (id: string): boolean => bars.hasChat(asChatId(id))
  /** By the former name of an object: what replaces it, null if it is removed. */
  const others = new Map<string, Pick<ChatEntry, 'object' | 'bytes' | 'messages'> | null>()
  let messages = 0
  for (const hash of files.listObjects(dir)) {
    const read = files.readObject(dir, hash)
    const id = read.kind === 'sound' ? read.value.chat.id : (chatOf.get(hash) ?? null)
    if (read.kind === 'sound') {
      const isWhole = isPurged(read.value.chat.id)
      if (!isWhole && !hasPurged(read.value, bars, needles)) continue
      if (!isWhole && !isRestored) return null
      const rest = await writeRest(dir, db, read.value.chat.id)
      messages += Math.max(0, read.value.messages.length - (rest?.messages ?? 0))
      others.set(hash, rest)
    } else if (id !== null && isPurged(id)) others.set(hash, null)
    else damaged.push({ kind: 'object', name: hash, chatId: id, why: read.why })
  }
  const touched: string[] = []
  for (const manifest of runs) {
    const scope = scrubScope(manifest.scope, needles)
    // The object of a purged chat may be missing already.
    const otherOf = ({ id, object }: ChatEntry) => (isPurged(id) ? null : others.get(object))
    if (scope === manifest.scope && manifest.chats.every((entry) => otherOf(entry) === undefined)) continue
    const chats = manifest.chats.flatMap((entry): ChatEntry[] => {
      const other = otherOf(entry)
      if (other === undefined) return [entry]
      return other === null ? [] : [{ ...entry, ...other, revision: 0 }]
    })
    await files.writeManifest(dir, { ...manifest, scope, chats })
    touched.push(manifest.name)
  }
  const kept = new Set([...others.values()].map((other) => other?.object))
  for (const hash of others.keys()) if (!kept.has(hash)) files.removeObject(dir, hash)
  await files.syncFolders(dir, [...others.keys()].map(objectPath))
  return { objects: others.size, messages, runs: touched, damaged }
}

/** Whether a part of a chat is barred, or has the text. An older state may have words that the mirror has no more. */
function hasPurged(object: ArchivedObject, bars: Bars, needles: readonly string[]): boolean {
  const { id, name, summary, branch, todos, paths } = object.chat
  const chatId = asChatId(id)
  const facts = [name, summary, branch, ...todos.map(({ content }) => content), ...paths]
  return (
    holdsAny(JSON.stringify(object), needles) ||
    facts.some((text) => bars.hasText(chatId, text)) ||
    object.messages.some((message) =>
      bars.hasMessage(chatId, asMessageId(message.id), () => message.parts as readonly Part[]),
    )
  )
}

async function writeRest(dir: string, db: Mirror, id: string) {
  const num = findChatNum(db, asChatId(id))
  const read = num === null ? null : packChat(db, num, readIdentity(db))
  // What cannot be packed is in the mirror only.
  if (read?.kind !== 'sound') return null
  const { object, packed, messages } = read.value
  await files.writePlainFile(dir, objectPath(object), packed)
  await files.syncFolders(dir, [objectPath(object)])
  requireWritten(dir, { id, object })
  return { object, bytes: packed.length, messages }
}

/** The scope of a run without the text that is purged. The same object if the scope does not contain it. */
function scrubScope(scope: Manifest['scope'], needles: readonly string[]): Manifest['scope'] {
  const json = JSON.stringify(scope)
  if (!holdsAny(json, needles)) return scope
  return JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' && holdsAny(value, needles) ? '(purged)' : value,
  ) as Manifest['scope']
}
