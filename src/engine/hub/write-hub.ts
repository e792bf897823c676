import { unpackOfHub } from '../../api/archives/archive-files.ts'
import type { Meeting } from '../../hub/push.ts'
import type { PullPart } from '../../hub/pull.ts'
import { dropPulled, packPulled, takePulled } from '../../indexer/sources/archive/index.ts'
import { beginPush, clearQueue, nameProject, readState, writeState } from '../../mirror/hub/hub.ts'
import type { Mirror } from '../../mirror/open.ts'
import { emptyLog, forgetNames } from '../../mirror/purge/purge-rows.ts'
import type { Written } from '../../model/change.ts'
import { collectGarbage } from '../collect-garbage.ts'

/** What the mirror's only writer does for the hub. */
export type HubWrite =
  /** Before a push or a pull. */
  | { readonly act: 'meet'; readonly meeting: Meeting; readonly isPush: boolean }
  /** After a push: the hub knows the purges up to this one. */
  | { readonly act: 'end-push'; readonly purgesUpTo: number | null }
  | ({ readonly act: 'take' } & Pick<PullPart, 'rows' | 'gone'>)
  | { readonly act: 'end-pull' }

/** What was taken; nothing after other acts. */
export interface HubWritten {
  /** In chats. */
  readonly taken: number
  /** True if rows have to be fetched again. */
  readonly wantsMore: boolean
}

/** By how many bytes the memory may grow while a chat is read. Only very large chats need more. */
const GROWTH_MAX = 8 * 1024 * 1024

/** A step, and what it wrote. */
type Step = Written | null

/** One act in bounded steps. Each chat is one transaction, so an act that was ended can be repeated. */
export async function* writeHub(
  order: HubWrite,
  mirror: () => Mirror,
  now: () => number,
): AsyncGenerator<Step, HubWritten> {
  const db = mirror()
  let [taken, wantsMore] = [0, false]
  switch (order.act) {
    case 'meet':
      db.transaction(() => {
        for (const { uri, name } of order.meeting.names) nameProject(db, uri, name)
        if (order.isPush) beginPush(db, order.meeting.lastPush, now())
      })()
      break
    case 'end-push':
      if (order.purgesUpTo !== null) clearQueue(db, order.purgesUpTo)
      writeState(db, 'pushed', String(now()))
      break
    case 'take':
      for (const row of order.rows) {
        const nowMs = now()
        const packed = Buffer.from(row.object, 'base64')
        // Whatever reading throws is damage of the row.
        const read = await unpackOfHub(packed, (message) => {
          collectGarbage(GROWTH_MAX)
          return packPulled(message, nowMs)
        }).catch(() => null)
        collectGarbage(GROWTH_MAX)
        const { outcome, wantsOther } = takePulled(mirror(), row, read, nowMs)
        if (outcome !== null) taken += 1
        wantsMore ||= wantsOther
        yield outcome
      }
      for (const { machine, chat } of order.gone) {
        if (dropPulled(mirror(), machine, chat)) wantsMore = true
        yield null
      }
      break
    default:
      if (readState(db, 'words') === '1') {
        forgetNames(db)
        writeState(db, 'words', '0')
        // A reader at work holds it up. Later writes replace it then.
        emptyLog(db)
      }
      writeState(db, 'pulled', String(now()))
  }
  return { taken, wantsMore }
}
