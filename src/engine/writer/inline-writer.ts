import { dirname, join } from 'node:path'
import { setImmediate as others } from 'node:timers/promises'
import { keepCopiesIn, removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import { damageOf } from '../../mirror/maintenance/check-pages.ts'
import { runToCompletion } from '../deferred.ts'
import { diskFull, isOfFullDisk } from '../disk-full.ts'
import { takeLock } from '../lock.ts'
import { WriterActs } from './acts.ts'
import type { UpkeepOutcome, UpkeepTask, WriterOrder, WriterOutcome, WriterSetup } from './messages.ts'
import { writerActs, type SendOrder, type Writer } from './writer.ts'

/** Short, because the command does nothing else meanwhile. The user can try again. */
const LOCK_WAIT_MS = 250
const LONG_RUN_MS = 1000
const LONG_RUN = 'Reading Cursor first; run "cursordex serve" to have this done in the background.'

/**
 * A writer in this process, for a command that works without a daemon. It holds the daemon's lock during each act, so
 * that the mirror has one writer at any time.
 * @param note gets repairs, and the news that reading takes long
 */
export function inlineWriter(setup: WriterSetup, note: (text: string) => void): Writer {
  const acts = new WriterActs(setup, Date.now)
  const dataDir = dirname(setup.mirrorPath)
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <Outcome>(act: () => Promise<Outcome>): Promise<Outcome> => {
    const done = last.then(() => locked(dataDir, acts, () => repairing(acts, note, act)))
    last = done.catch(() => undefined)
    return done
  }
  const send: SendOrder = (order) => drive(acts, order, note)
  const direct = writerActs(send)
  return {
    ...writerActs((order) => inTurn(() => send(order))),
    // All parts under one lock: a daemon that starts between two of them would end the restore.
    restore: (order, onSlice) => inTurn(() => direct.restore(order, onSlice).finally(() => acts.endRestore())),
    stop: async () => acts.close(),
  }
}

async function drive(acts: WriterActs, order: WriterOrder, note: (text: string) => void): Promise<WriterOutcome> {
  const steps = acts.act(order, () => undefined)
  const startedAtMs = Date.now()
  let hasNoted = order.kind !== 'run'
  for (;;) {
    const next = await steps.next()
    if (next.done === true) {
      // Lets the output of progress run.
      await others()
      return next.value
    }
    if (hasNoted || Date.now() - startedAtMs < LONG_RUN_MS) continue
    hasNoted = true
    note(LONG_RUN)
  }
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
      acts.kept.close()
    }
  } catch (error) {
    const isFull = error instanceof Error && 'code' in error && isOfFullDisk(String(error.code))
    throw isFull ? diskFull(dataDir, error) : error
  } finally {
    lock.release()
  }
}

/** Nothing is checked before a command. If the mirror turns out to be damaged it is repaired, and the act is tried again. */
async function repairing<Outcome>(
  { kept }: WriterActs,
  note: (text: string) => void,
  act: () => Promise<Outcome>,
): Promise<Outcome> {
  const keep = (task: UpkeepTask): UpkeepOutcome => {
    const outcome = runToCompletion(kept.keep(task))
    for (const sentence of outcome.news) note(sentence)
    return outcome
  }
  const { damage: found } = keep({ task: 'salvage', suspected: 'none' })
  if (found === 'rows') keep({ task: 'set-aside', suspected: 'none' })
  try {
    return await act()
  } catch (error) {
    const suspected = damageOf(error)
    if (suspected === 'none') throw error
    const { damage } = keep({ task: 'check', suspected })
    if (damage === 'rows') keep({ task: 'set-aside', suspected: 'none' })
    return await act()
  }
}
