import { dirname, join } from 'node:path'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { keepCopiesIn, removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import { MirrorIndex } from '../../mirror/index/follow-mirror.ts'
import { indexPath, isFollowed } from '../../mirror/index/index-file.ts'
import type { IndexWriter } from './thread-index.ts'
import { takeLock } from '../lock.ts'
import { WriterActs } from './acts.ts'
import type { WriterOrder, WriterOutcome, WriterSetup } from './messages.ts'
import { diskFull, isOfFullDisk, writerActs, type Writer } from './writer.ts'

/** How long an act waits for the lock. Short, because the command does nothing else meanwhile. The user can try again. */
const LOCK_WAIT_MS = 250
const LONG_RUN_MS = 1000
const LONG_RUN = 'Reading Cursor first. "cursordex serve" does this in the background.'

/**
 * A writer in this process, for a command without a daemon. It has the daemon's lock during each act, so the mirror never
 * has two writers.
 * @param note prints sentences about repairs, and one if reading takes long
 */
export function inlineWriter(
  setup: WriterSetup,
  note: (text: string) => void,
): Writer & { readonly index: IndexWriter } {
  const acts = new WriterActs(setup, Date.now)
  const dataDir = dirname(setup.mirrorPath)
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <Outcome>(act: () => Promise<Outcome>): Promise<Outcome> => {
    const done = last.then(() => locked(dataDir, acts, () => repairing(acts, note, act)))
    last = done.catch(() => undefined)
    return done
  }
  const onIndex = <Outcome>(act: (index: MirrorIndex) => Outcome): Promise<Outcome> =>
    inTurn(async () => {
      // It is there, and of this version.
      acts.maintenance.close()
      const index = new MirrorIndex(setup.mirrorPath, Date.now)
      try {
        return act(index)
      } finally {
        index.close()
      }
    })
  return {
    ...writerActs((order) => inTurn(() => drive(acts, order, note))),
    index: {
      async follow() {
        const isDone = await inTurn(async () => isFollowed(indexPath(setup.mirrorPath), acts.db))
        if (!isDone) await onIndex((index) => index.catchUp())
      },
      check: (isThorough) => onIndex((index) => index.check({ isThorough })),
      forgetWords: () => onIndex((index) => index.forgetWords()),
    },
    stop: async () => acts.close(),
  }
}

async function drive(acts: WriterActs, order: WriterOrder, note: (text: string) => void): Promise<WriterOutcome> {
  const startedAtMs = Date.now()
  let hasNoted = order.kind !== 'run'
  const outcome = await acts.act(order, async () => {
    if (hasNoted || Date.now() - startedAtMs < LONG_RUN_MS) return
    hasNoted = true
    note(LONG_RUN)
  })
  // Progress output can run here.
  await yieldToOthers()
  return outcome
}

/** @throws UserError `already-running`, `disk-full` */
async function locked<Outcome>(dataDir: string, acts: WriterActs, act: () => Promise<Outcome>): Promise<Outcome> {
  const lock = takeLock(dataDir, LOCK_WAIT_MS)
  try {
    keepCopiesIn(join(dataDir, 'copies'))
    try {
      return await act()
    } finally {
      removeCopies()
      acts.maintenance.close()
    }
  } catch (error) {
    const isFull = error instanceof Error && 'code' in error && isOfFullDisk(String(error.code))
    throw isFull ? diskFull(dataDir, error) : error
  } finally {
    lock.release()
  }
}

/** If the mirror proves to be damaged, a new one replaces it, and the act is repeated. */
async function repairing<Outcome>(
  { maintenance }: WriterActs,
  note: (text: string) => void,
  act: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await act()
  } catch (error) {
    if (!isDamage(error)) throw error
    maintenance.noteDamage()
    maintenance.close()
    return await act()
  } finally {
    if (maintenance.news !== null) note(maintenance.news)
    maintenance.news = null
  }
}
