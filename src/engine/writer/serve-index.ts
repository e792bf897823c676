import { setImmediate as yieldToOrders } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { MirrorIndex } from '../../mirror/index/follow-mirror.ts'
import { collectGarbage } from '../collect-garbage.ts'
import { failureOf } from '../failure.ts'
import type { FromThread } from './own-thread.ts'
import type { IndexOrder, IndexStep } from './thread-index.ts'

/** By how many bytes the memory may grow between two steps. Few messages need so much. */
const GROWTH_MAX = 24 * 1024 * 1024

/** Rows are merged when no change came for so long: during a first pass, merging would write them several times. */
const QUIET_MS = 300

/**
 * The thread of the full-text index. It works off what waits, in steps, and then merges. Orders come in between. It looks
 * at the mirror when it is told that something changed.
 */
export function serveIndex(port: MessagePort, mirrorPath: string): void {
  const send = (message: FromThread<IndexStep>): void => port.postMessage(message)
  let index: MirrorIndex | null = null
  const orders: Exclude<IndexOrder, { readonly act: 'nudge' }>[] = []
  /** The last nudge, and whether all that it asked for is done. */
  let nudges = 0
  let nudgedAtMs = 0
  let isWaiting = true
  let isBusy = false
  let isStopping = false

  function open(): MirrorIndex {
    const made = new MirrorIndex(mirrorPath, Date.now)
    send({ kind: 'open', opened: null })
    return made
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    try {
      index ??= open()
      while (workSome(index)) await yieldToOrders()
      // It comes back here when it is told of a change, or after the pause.
      if (!isStopping && index.needsMerge) setTimeout(() => void work(), QUIET_MS).unref()
    } catch (error) {
      // Nobody can be answered.
      const failure = failureOf(error)
      for (let left = Math.max(1, orders.splice(0).length); left > 0; left -= 1) send({ kind: 'failed', failure })
    } finally {
      isBusy = false
      if (isStopping) close()
    }
  }

  /** @returns false if nothing is left to do */
  function workSome(made: MirrorIndex): boolean {
    const [order] = orders
    if (isStopping) return false
    if (order?.act === 'check') end(made.check(order))
    else if (order?.act === 'forget') end(made.forgetWords())
    else if (isWaiting) step(made)
    else if (order?.merges === false) end(true)
    else if (made.needsMerge && (order !== undefined || performance.now() - nudgedAtMs >= QUIET_MS)) made.mergeSome()
    else if (order !== undefined) end(true)
    else {
      made.shrinkMemory()
      return false
    }
    return true
  }

  /** The first order is done. */
  function end(isGood: boolean): void {
    if (orders.shift()?.act !== 'follow') isWaiting = true
    send({ kind: 'done', outcome: isGood })
  }

  function step(made: MirrorIndex): void {
    const upTo = nudges
    const left = made.step()
    collectGarbage(GROWTH_MAX)
    isWaiting = left > 0 || nudges > upTo
    send({ kind: 'step', step: { upTo, left, timesRenewed: made.timesRenewed } })
  }

  function close(): void {
    index?.close()
    port.close()
  }

  port.on('message', (message: IndexOrder | 'stop') => {
    if (message === 'stop') {
      isStopping = true
      if (!isBusy) close()
      return
    }
    if (message.act === 'nudge') {
      nudges = message.num
      nudgedAtMs = performance.now()
      isWaiting = true
    } else orders.push(message)
    void work()
  })
  void work()
}
