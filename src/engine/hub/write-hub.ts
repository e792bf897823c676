import { HUB_BYTES_MAX, readObject } from '../../api/archives/archive-files.ts'
import { FORMAT_VERSION } from '../../archive/archived-chat.ts'
import type { Meeting } from '../../hub/meet.ts'
import type { PullPart, SpooledRow } from '../../hub/pull.ts'
import { INDEXED_AT_ONCE } from '../../indexer/source.ts'
import { dropPulled, takePulled, type PulledObject } from '../../indexer/sources/archive/pulled.ts'
import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import { wantAll, wantNewer } from '../../mirror/hub/ledger.ts'
import { beginPush, clearQueue, nameProject, readState, writeState } from '../../mirror/hub/own-side.ts'
import type { Mirror } from '../../mirror/open.ts'
import { forgetWords } from '../../mirror/purge/forget-words.ts'
import { emptyLog } from '../../mirror/purge/stages.ts'
import type { BatchOutcome } from '../../mirror/write/batch.ts'

/** What the mirror's only writer does for the hub. */
export type HubWrite =
  /** Before a push or a pull. */
  | { readonly act: 'meet'; readonly meeting: Meeting; readonly isPush: boolean }
  /** After a push: the hub knows the purges up to this one. */
  | { readonly act: 'end-push'; readonly purgesUpTo: number | null }
  | {
      readonly act: 'take'
      readonly dir: string
      readonly part: Pick<PullPart, 'rows' | 'gone'>
      /** How many messages of this pull were added before. After the first ones full-text rows wait. */
      readonly addedBefore: number
    }
  | { readonly act: 'end-pull' }

/** What was taken; nothing after other acts. */
export interface HubWritten {
  /** In chats. */
  readonly taken: number
  /** In messages. */
  readonly added: number
  /** True if rows have to be fetched again. */
  readonly wantsMore: boolean
  /** How many messages can be read and are not searchable yet. */
  readonly backlog: number
}

const nothing: HubWritten = { taken: 0, added: 0, wantsMore: false, backlog: 0 }

/** A step, and what it wrote. */
type Step = BatchOutcome | null

/** One act in bounded steps. Each chat is one transaction, so an act that was ended can be repeated. */
export async function* writeHub(
  order: HubWrite,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<Step, HubWritten> {
  const db = mirror()
  switch (order.act) {
    case 'meet':
      db.transaction(() => noteMeeting(db, order.meeting, order.isPush, now()))()
      return nothing
    case 'end-push':
      if (order.purgesUpTo !== null) clearQueue(db, order.purgesUpTo)
      writeState(db, 'pushed', String(now()))
      return nothing
    case 'take':
      return yield* take(order, mirror, now)
    default:
      if (readState(db, 'words') === '1') {
        for (const _ of forgetWords(db)) yield null
        writeState(db, 'words', '0')
        // A reader at work holds it up. Later writes replace it then.
        emptyLog(db)
      }
      writeState(db, 'pulled', String(now()))
      return nothing
  }
}

/** Another hub starts at nothing. A newer program may read what was too new. */
function noteMeeting(db: Mirror, { hub, names, lastPush }: Meeting, isPush: boolean, nowMs: number): void {
  for (const { uri, name } of names) nameProject(db, uri, name)
  if (isPush) beginPush(db, lastPush, nowMs)
  const former = readState(db, 'hub')
  if (former !== null && former !== hub) wantAll(db)
  if (readState(db, 'format') !== String(FORMAT_VERSION)) wantNewer(db)
  writeState(db, 'hub', hub)
  writeState(db, 'format', String(FORMAT_VERSION))
}

async function* take(
  { dir, part, addedBefore }: Extract<HubWrite, { act: 'take' }>,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<Step, HubWritten> {
  let [taken, added, wantsMore] = [0, 0, false]
  for (const row of part.rows) {
    const object = readSpooled(dir, row)
    const isIndexedLater = addedBefore + added >= INDEXED_AT_ONCE
    const { outcome, wantsOther } = takePulled(mirror, row, object, { nowMs: now(), isIndexedLater })
    if (outcome !== null) taken += 1
    added += outcome?.added ?? 0
    wantsMore ||= wantsOther
    yield outcome
  }
  for (const { machine, chat } of part.gone) {
    const { wantsOther } = dropPulled(mirror(), machine, chat)
    wantsMore ||= wantsOther
    yield null
  }
  return { taken, added, wantsMore, backlog: countWaiting(mirror()) }
}

function readSpooled(dir: string, { object }: SpooledRow): PulledObject {
  if (object === null) return 'newer'
  const read = readObject(dir, object, HUB_BYTES_MAX)
  return read.kind === 'sound' ? read.value : 'damaged'
}
