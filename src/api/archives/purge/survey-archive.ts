import type { ArchivedChat, ArchivedMessage } from '../../../archive/record.ts'
import { leavesOf } from '../../../mirror/purge/leaves.ts'
import { holdsAny, needlesOf, type PurgeScope } from '../../../mirror/purge/scope.ts'
import type { ArchivedTargets } from '../../../mirror/purge/begin-purge.ts'
import { asChatId, asMessageId, type ChatId } from '../../../model/ids.ts'
import type { Part } from '../../../model/part.ts'
import { listRunNames, readManifest } from '../manifest-files.ts'
import { readObjects, type DamagedObject, type ReadObject } from './read-objects.ts'

export interface ArchiveSurvey {
  /** Objects that hold something of what is to go, and runs that name one of them. */
  readonly objects: number
  readonly runs: readonly string[]
  /** How many messages, each as often as it is archived. */
  readonly messages: number
  /** What cannot be read, and so cannot be looked through: objects by what is guessed of their chat, runs by name. */
  readonly damaged: readonly DamagedArchive[]
  readonly targets: ArchivedTargets
  /** Of the chats that go whole, those that are archived. */
  readonly chatIds: readonly string[]
}

export interface DamagedArchive {
  readonly kind: 'object' | 'run'
  readonly name: string
  readonly chatId: string | null
  readonly why: string
}

/** What the mirror says of what is asked for. */
export interface MirrorWord {
  readonly scope: PurgeScope
  /** Chats that go whole. */
  readonly chatIds: ReadonlySet<string>
}

interface Survey {
  readonly chatIds: Set<ChatId>
  readonly messages: Map<string, { chatId: ChatId; id: ReturnType<typeof asMessageId> }>
  readonly texts: Set<string>
}

/** Looks through an archive folder for what a purge would take out of it. Writes nothing, no lock either. */
export function* surveyArchive(dir: string, word: MirrorWord): Generator<void, ArchiveSurvey> {
  const found: Survey = { chatIds: new Set(), messages: new Map(), texts: new Set() }
  const touched = new Set<string>()
  const damaged: DamagedArchive[] = []
  const seen = new Set<string>()
  let messages = 0
  for (const object of readObjects(dir)) {
    if (object.kind === 'damaged') {
      damaged.push(tellDamaged(object))
      if (object.chatId !== null && word.chatIds.has(object.chatId)) touched.add(object.hash)
    } else {
      const count = word.chatIds.has(object.chat.id) ? object.messages.length : look(object, word, found)
      messages += count ?? 0
      if (word.chatIds.has(object.chat.id)) seen.add(object.chat.id)
      if (count !== null && (count > 0 || word.chatIds.has(object.chat.id))) touched.add(object.hash)
    }
    yield
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (read.value.chats.some(({ object }) => touched.has(object))) runs.push(name)
    yield
  }
  const targets = { chatIds: [...found.chatIds], messages: [...found.messages.values()], texts: [...found.texts] }
  return { objects: touched.size, runs, messages, damaged, targets, chatIds: [...seen] }
}

export const tellDamaged = ({ hash, chatId, why }: DamagedObject): DamagedArchive => ({
  kind: 'object',
  name: hash,
  chatId,
  why,
})

/** @returns how many of its messages go; null where nothing of it does */
function look({ chat, messages }: ReadObject, { scope }: MirrorWord, found: Survey): number | null {
  if (!isNamed(chat, scope)) return null
  if (scope.match === null && scope.beforeMs === null) {
    found.chatIds.add(asChatId(chat.id))
    return messages.length
  }
  const needles = scope.match === null ? null : needlesOf(scope.match)
  const going = messages.filter(({ message, line }) => goes(message, line, scope, needles))
  for (const { message } of going) {
    const { id } = message
    const texts =
      needles === null ? [] : [...leavesOf(message.parts as readonly Part[])].filter((leaf) => holdsAny(leaf, needles))
    for (const text of texts) found.texts.add(text)
    found.messages.set(JSON.stringify([chat.id, id]), { chatId: asChatId(chat.id), id: asMessageId(id) })
  }
  if (needles === null) {
    if (going.length === messages.length) found.chatIds.add(asChatId(chat.id))
    return going.length === 0 ? null : going.length
  }
  const facts = scope.beforeMs === null ? factTexts(chat).filter((text) => holdsAny(text, needles)) : []
  for (const text of facts) found.texts.add(text)
  return going.length === 0 && facts.length === 0 ? null : Math.max(going.length, facts.length > 0 ? 1 : 0)
}

function isNamed(chat: ArchivedChat, { chatIds, projectUris }: PurgeScope): boolean {
  if (chatIds !== null && !chatIds.some((id) => id === chat.id || id === chat.parentChatId)) return false
  const [best] = chat.evidence
  return projectUris === null || (best !== undefined && projectUris.includes(best.root.uri))
}

function goes(message: ArchivedMessage, line: string, scope: PurgeScope, needles: readonly string[] | null): boolean {
  const at = message.sentAt ?? message.startedAt ?? message.timingAt
  const isEarly = scope.beforeMs === null || (at !== null && Date.parse(at) < scope.beforeMs)
  return isEarly && (needles === null || holdsAny(line.slice(line.indexOf('"parts":')), needles))
}

/** What an archived chat says of itself. */
const factTexts = (chat: ArchivedChat): string[] =>
  [chat.name, chat.summary, chat.branch, ...chat.todos.map(({ content }) => content), ...chat.paths].filter(
    (text) => text !== null,
  )
