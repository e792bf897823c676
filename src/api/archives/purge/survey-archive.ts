import type { ArchivedChat, ArchivedMessage } from '../../../archive/record.ts'
import { homeOf, removedTexts } from '../../../mirror/purge/removed-texts.ts'
import { isMatching, type Saying } from '../../../mirror/purge/said.ts'
import { holdsAny, needlesOf, type PurgeScope } from '../../../mirror/purge/scope.ts'
import type { RemovedText } from '../../../mirror/purge/tombstones.ts'
import type { ArchivedTargets } from '../../../mirror/purge/begin-purge.ts'
import { asChatId, asMessageId, type ChatId } from '../../../model/ids.ts'
import type { Part } from '../../../model/part.ts'
import { listRunNames, readManifest } from '../manifest-files.ts'
import { archivedFamily } from './archived-family.ts'
import { readObjects, type DamagedObject, type ReadObject } from './read-objects.ts'
import { lastActivityMs, timesOf, type Times } from './said-at.ts'

export interface ArchiveSurvey {
  /** Objects that hold something of what is to go, and runs that name one of them. */
  readonly objects: number
  readonly runs: readonly string[]
  /** How many messages, each as often as it is archived. */
  readonly messages: number
  /** What cannot be read, and so cannot be looked through: objects by what is guessed of their chat, runs by name. */
  readonly damaged: readonly DamagedArchive[]
  readonly targets: ArchivedTargets
  /** Of the chats that are named, those that are archived. */
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
  /** Chats that go whole by what the mirror holds. */
  readonly chatIds: ReadonlySet<string>
  /** Whether a chat lies in one of the projects that are named; null for one that the mirror does not hold. */
  isInProjects(id: ChatId): boolean | null
}

/** An archived state of a chat that goes whole by what the mirror holds. */
interface HeldState {
  readonly hash: string
  readonly chatId: ChatId
  /** How many messages it has, and how many of them go in any case. */
  readonly messages: number
  readonly going: number
}

interface Survey {
  readonly scope: PurgeScope
  readonly word: MirrorWord
  /** The chats that are named, their subagents among them; null: any. */
  readonly named: ReadonlySet<string> | null
  /** Whether all that is archived of a chat goes. */
  readonly isWhole: Map<ChatId, boolean>
  /** Those in which something was said since the scope's moment. */
  readonly goingOn: Set<ChatId>
  readonly messages: Map<string, { chatId: ChatId; id: ReturnType<typeof asMessageId> }>
  readonly texts: RemovedText[]
}

/** Looks through an archive folder for what a purge would take out of it. Writes nothing, no lock either. */
export function* surveyArchive(dir: string, word: MirrorWord): Generator<void, ArchiveSurvey> {
  const { scope } = word
  const named = scope.chatIds === null ? null : yield* archivedFamily(dir, scope.chatIds)
  const found: Survey = {
    scope,
    word,
    named,
    isWhole: new Map(),
    goingOn: new Set(),
    messages: new Map(),
    texts: [],
  }
  const held: HeldState[] = []
  const touched = new Set<string>()
  const damaged: DamagedArchive[] = []
  const seen = new Set<string>()
  let messages = 0
  for (const object of readObjects(dir)) {
    const id = object.kind === 'sound' ? object.chat.id : object.chatId
    if (id !== null && named?.has(id) === true) seen.add(id)
    if (object.kind === 'damaged') {
      damaged.push(tellDamaged(object))
      if (object.chatId !== null && word.chatIds.has(object.chatId)) touched.add(object.hash)
    } else {
      const chatId = asChatId(object.chat.id)
      const isHeld = word.chatIds.has(chatId)
      const going = isHeld && scope.beforeMs === null ? null : look(object, found)
      if (isHeld) held.push({ hash: object.hash, chatId, messages: object.messages.length, going: going ?? 0 })
      else messages += going ?? 0
      if (!isHeld && going !== null && going > 0) touched.add(object.hash)
    }
    yield
  }
  const goingOn = new Set(held.map(({ chatId }) => chatId).filter((id) => found.goingOn.has(id)))
  for (const { hash, chatId, ...count } of held) {
    const going = goingOn.has(chatId) ? count.going : count.messages
    messages += going
    if (going > 0 || !goingOn.has(chatId)) touched.add(hash)
  }
  const runs: string[] = []
  for (const name of listRunNames(dir)) {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') damaged.push({ kind: 'run', name, chatId: null, why: read.why })
    else if (read.value.chats.some(({ object }) => touched.has(object))) runs.push(name)
    yield
  }
  const chatIds = [...found.isWhole].flatMap(([id, isWhole]) => (isWhole ? [id] : []))
  // What goes with its chat is known by its chat.
  const single = [...found.messages.values()].filter(({ chatId }) => !word.chatIds.has(chatId) || goingOn.has(chatId))
  const targets = { chatIds, goingOn: [...goingOn], messages: single, texts: found.texts }
  return { objects: touched.size, runs, messages, damaged, targets, chatIds: [...seen] }
}

export const tellDamaged = ({ hash, chatId, why }: DamagedObject): DamagedArchive => ({
  kind: 'object',
  name: hash,
  chatId,
  why,
})

/** @returns how many of its messages go; null where nothing of it does */
function look(object: ReadObject, found: Survey): number | null {
  const { chat, messages } = object
  const { scope } = found
  if (!isNamed(chat, found)) return null
  const id = asChatId(chat.id)
  if (scope.match !== null) return lookForText(object, found, needlesOf(scope.match))
  const times = timesOf(object)
  const going = messages.filter(({ message }) => isEarly(scope, times, message))
  if (isAnyLater(scope, times)) found.goingOn.add(id)
  const lastMs = lastActivityMs(chat, times)
  const isWhole = scope.beforeMs === null || (lastMs !== null && lastMs < scope.beforeMs)
  found.isWhole.set(id, isWhole && found.isWhole.get(id) !== false)
  // What goes with its chat is known by its chat.
  if (scope.beforeMs !== null) for (const { message } of going) note(found, id, message)
  return going.length === 0 && !isWhole ? null : going.length
}

function lookForText(object: ReadObject, found: Survey, needles: readonly string[]): number | null {
  const { scope, texts } = found
  const chatId = asChatId(object.chat.id)
  const times = scope.beforeMs === null ? new Map() : timesOf(object)
  const going = object.messages.filter(
    ({ message, line }) => isEarly(scope, times, message) && isMatching(line, needles, partsOf(message)),
  )
  for (const { message } of going) {
    texts.push(...removedTexts(partsOf(message), chatId, needles, scope))
    note(found, chatId, message)
  }
  const facts = scope.beforeMs === null ? factsOf(object.chat).filter(({ text }) => holdsAny(text, needles)) : []
  for (const { text, isWords } of facts) texts.push({ text, chatId: homeOf(chatId, isWords, scope) })
  return going.length === 0 && facts.length === 0 ? null : Math.max(going.length, facts.length > 0 ? 1 : 0)
}

const partsOf = ({ parts }: ArchivedMessage): readonly Part[] => parts as readonly Part[]

function note({ messages }: Survey, chatId: ChatId, { id }: ArchivedMessage): void {
  messages.set(JSON.stringify([chatId, id]), { chatId, id: asMessageId(id) })
}

/** Of a chat that the mirror holds the mirror says in which project it lies, of another one the archive. */
function isNamed(chat: ArchivedChat, { named, word, scope: { projectUris } }: Survey): boolean {
  if (word.chatIds.has(chat.id)) return true
  if (named !== null && !named.has(chat.id)) return false
  if (projectUris === null) return true
  const [best] = chat.evidence
  return word.isInProjects(asChatId(chat.id)) ?? (best !== undefined && projectUris.includes(best.root.uri))
}

function isAnyLater({ beforeMs }: PurgeScope, times: Times): boolean {
  for (const ms of times.values()) if (beforeMs !== null && ms !== null && ms >= beforeMs) return true
  return false
}

function isEarly({ beforeMs }: PurgeScope, times: Times, { id }: ArchivedMessage): boolean {
  return beforeMs === null || (times.get(id) ?? Infinity) < beforeMs
}

/** What an archived chat says of itself. */
const factsOf = ({ name, summary, branch, todos, paths }: ArchivedChat): readonly Saying[] => [
  ...[name, summary, branch, ...todos.map(({ content }) => content)].flatMap((text) =>
    text === null ? [] : [{ text, isWords: true }],
  ),
  ...paths.map((text) => ({ text, isWords: false })),
]
