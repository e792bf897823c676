import { proveChat } from '../../api/archives/prove-object.ts'
import type { PullPart, SpooledRow } from '../../hub/pull.ts'
import type { Legacy } from '../../hub/take-over.ts'
import { restoreChats } from '../../indexer/sources/archive/index.ts'
import { normaliseRoot } from '../../indexer/projects/root-uri.ts'
import { HUB_ROOT } from '../../mirror/hub/pulled-copy.ts'
import { dropPulled, takePulled, type PulledObject } from '../../indexer/sources/archive/pulled.ts'
import { INDEXED_AT_ONCE } from '../../indexer/source.ts'
import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import { wantAll, wantNewer } from '../../mirror/hub/ledger.ts'
import {
  addValue,
  clearQueue,
  localRootOf,
  nameProject,
  readState,
  renameProjects,
  writeState,
} from '../../mirror/hub/own-side.ts'
import type { Mirror } from '../../mirror/open.ts'
import { forgetWords } from '../../mirror/purge/forget-words.ts'
import { purgeAgain, type KnownPurge } from '../../mirror/purge/purged-elsewhere.ts'
import { emptyLog } from '../../mirror/purge/state.ts'
import { endRemoval } from '../../mirror/purge/remove-targets.ts'
import type { BatchOutcome } from '../../mirror/write/batch.ts'

/** What the mirror's only writer does for the hub. */
export type HubWrite =
  /** Before a push or a pull: names of projects, and what this machine purged as the hub remembers it. */
  | {
      readonly act: 'prepare'
      readonly hub: string
      /** The newest version of objects that this program reads. */
      readonly format: number
      readonly names: readonly { readonly uri: string; readonly name: string }[]
      readonly purged: readonly KnownPurge[]
      /** The value of the push that begins. Null before a pull. */
      readonly value: string | null
    }
  | { readonly act: 'sent'; readonly purgesUpTo: number | null }
  | {
      readonly act: 'take'
      readonly dir: string
      readonly part: Pick<PullPart, 'rows' | 'gone'>
      /** How many messages of this pull were added before. After the first ones full-text rows wait. */
      readonly addedBefore: number
    }
  /** Restores what a lost mirror left at the hub, as chats of this one. */
  | { readonly act: 'adopt'; readonly dir: string; readonly legacy: Legacy }
  | { readonly act: 'end-pull' }
  | { readonly act: 'rename'; readonly former: string; readonly name: string }

/** Each act fills the fields that concern it. */
export interface HubWritten {
  /** In chats. */
  readonly taken: number
  readonly removed: number
  readonly added: number
  /** True if rows have to be fetched again. */
  readonly wantsMore: boolean
  /** How many messages can be read and are not searchable yet. */
  readonly backlog: number
}

export interface HubStep {
  readonly done: number
  readonly total: number
  readonly outcome: BatchOutcome | null
}

const nothing: HubWritten = { taken: 0, removed: 0, added: 0, wantsMore: false, backlog: 0 }

/** One act in bounded steps. Each chat is one transaction, so an act that was ended can be repeated. */
export async function* writeHub(
  order: HubWrite,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<HubStep, HubWritten> {
  const db = mirror()
  switch (order.act) {
    case 'prepare':
      db.transaction(() => {
        for (const { uri, name } of order.names) nameProject(db, uri, name)
        if (order.value !== null) addValue(db, order.value)
        noteHub(db, order)
      })()
      if (purgeAgain(db, order.purged, now())) for (const _ of endRemoval(db, now())) yield quiet
      return nothing
    case 'sent':
      if (order.purgesUpTo !== null) clearQueue(db, order.purgesUpTo)
      writeState(db, 'pushed', String(now()))
      return nothing
    case 'take':
      return yield* take(order, mirror, now)
    case 'adopt':
      return yield* adopt(order, mirror, now)
    case 'end-pull':
      if (readState(db, 'words') === '1') {
        for (const _ of forgetWords(db)) yield quiet
        writeState(db, 'words', '0')
        // A reader at work holds it up. Later writes replace it then.
        emptyLog(db)
      }
      writeState(db, 'pulled', String(now()))
      return nothing
    default:
      return { ...nothing, taken: renameProjects(db, order.former, order.name) }
  }
}

const quiet: HubStep = { done: 0, total: 0, outcome: null }

/** Another hub starts at nothing. A newer program may read what was too new. */
function noteHub(db: Mirror, { hub, format }: { readonly hub: string; readonly format: number }): void {
  const former = readState(db, 'hub')
  if (former !== null && former !== hub) wantAll(db)
  if (readState(db, 'format') !== String(format)) wantNewer(db)
  writeState(db, 'hub', hub)
  writeState(db, 'format', String(format))
}

async function* take(
  { dir, part, addedBefore }: Extract<HubWrite, { act: 'take' }>,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<HubStep, HubWritten> {
  const total = part.rows.length
  let [taken, added, wantsMore] = [0, 0, false]
  for (const [at, row] of part.rows.entries()) {
    const object = await readSpooled(dir, row)
    const pulled = await takePulled(mirror, row, object, {
      nowMs: now(),
      isIndexedLater: addedBefore + added >= INDEXED_AT_ONCE,
    })
    if (pulled.outcome !== null) taken += 1
    added += pulled.outcome?.added ?? 0
    if (pulled.wantsOther) wantsMore = true
    yield { done: at + 1, total, outcome: pulled.outcome }
  }
  for (const { machine, chat } of part.gone) {
    if (dropPulled(mirror(), machine, chat).wantsOther) wantsMore = true
    yield { done: total, total, outcome: null }
  }
  return { taken, removed: part.gone.length, added, wantsMore, backlog: countWaiting(mirror()) }
}

async function* adopt(
  { dir, legacy }: Extract<HubWrite, { act: 'adopt' }>,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<HubStep, HubWritten> {
  const { rows, purged } = legacy
  if (purgeAgain(mirror(), purged, now())) for (const _ of endRemoval(mirror(), now())) yield quiet
  let [done, added] = [0, 0]
  const chats = async function* (): AsyncGenerator<
    SoundChat | { readonly kind: 'damaged'; readonly id: string; readonly why: string }
  > {
    for (const { chat: id, project, object } of rows) {
      const read = await proveChat(dir, object, null)
      if (read.kind === 'sound') nameRoot(mirror(), read.value, project)
      done += 1
      yield read.kind === 'sound' ? read.value : { kind: 'damaged', id, why: read.why }
    }
  }
  const mapUri = (uri: string): string => rootOf(mirror(), uri)
  for await (const { outcome } of restoreChats({ mirror, now, mapUri }, chats())) {
    added += outcome?.added ?? 0
    yield { done, total: rows.length, outcome }
  }
  return { ...nothing, taken: rows.length, added, backlog: countWaiting(mirror()) }
}

type SoundChat = Extract<PulledObject, { kind: 'sound' }>

/** A redacted chat names its project instead of a folder. */
const rootOf = (db: Mirror, uri: string): string =>
  normaliseRoot(uri) === null ? (localRootOf(db, uri)?.uri ?? `${HUB_ROOT}${encodeURIComponent(uri)}`) : uri

/** The project keeps the name that it has at the hub, because rights go by it. */
function nameRoot(db: Mirror, { chat }: SoundChat, project: string): void {
  const [given] = chat.evidence
  const root = given === undefined ? null : normaliseRoot(rootOf(db, given.root.uri))
  if (root !== null) nameProject(db, root.uri, project)
}

async function readSpooled(dir: string, { object }: SpooledRow): Promise<PulledObject> {
  if (object === null) return { kind: 'newer' }
  const read = await proveChat(dir, object, null)
  return read.kind === 'sound' ? read.value : { kind: 'damaged' }
}
