import { setImmediate as yieldToOrders } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { MirrorIndex } from '../../mirror/index/follow-mirror.ts'
import type { FromIndex, IndexOrder } from './thread-index.ts'
import { threadFailure } from './writer.ts'

/** Rows are merged when no change came for so long: during a first pass, merging would write them several times. */
const QUIET_MS = 300
/** With so many waiting messages, memory is given back at the end. */
const GROWN_MIN = 4000

/**
 * The thread of the full-text index. It works off what waits, in steps, and then merges. Orders come in between. It looks
 * at the mirror when it is told that something changed.
 */
export function serveIndex(port: MessagePort, mirrorPath: string): void {
  const send = (message: FromIndex): void => port.postMessage(message)
  let index: MirrorIndex | null = null
  const orders: Exclude<IndexOrder, { readonly act: 'nudge' | 'stop' }>[] = []
  /** The last nudge, and whether all that it asked for is done. */
  let nudges = 0
  let nudgedAtMs = 0
  let isWaiting = true
  let isBusy = false
  let isStopping = false
  let hasGrown = false

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    try {
      index ??= new MirrorIndex(mirrorPath, Date.now)
      while (workSome(index)) await yieldToOrders()
      // It comes back here when it is told of a change, or after the pause.
      if (!isStopping && index.needsMerge) setTimeout(() => void work(), QUIET_MS).unref()
    } catch (error) {
      orders.length = 0
      send(threadFailure(error))
    } finally {
      isBusy = false
      if (isStopping) close()
    }
  }

  /** @returns false if nothing is left to do */
  function workSome(open: MirrorIndex): boolean {
    const [order] = orders
    if (isStopping) return false
    if (order?.act === 'check') end(open.check(order))
    else if (order?.act === 'forget') end(open.forgetWords())
    else if (isWaiting) step(open)
    else if (order?.merges === false) end(true)
    else if (open.needsMerge && (order !== undefined || performance.now() - nudgedAtMs >= QUIET_MS)) open.mergeSome()
    else if (order !== undefined) end(true)
    else {
      if (hasGrown) open.shrinkMemory()
      hasGrown = false
      return false
    }
    return true
  }

  /** The first order is done. */
  function end(isGood: boolean): void {
    if (orders.shift()?.act !== 'follow') isWaiting = true
    send({ kind: 'done', isGood })
  }

  function step(open: MirrorIndex): void {
    const upTo = nudges
    const left = open.step()
    isWaiting = left > 0 || nudges > upTo
    hasGrown ||= left >= GROWN_MIN
    send({ kind: 'step', upTo, left, timesRenewed: open.timesRenewed })
  }

  function close(): void {
    index?.close()
    port.close()
  }

  port.on('message', (message: IndexOrder) => {
    if (message.act === 'stop') {
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
