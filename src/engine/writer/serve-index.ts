import { setImmediate as yieldToOrders } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import { MirrorIndex } from '../../mirror/index/follow-mirror.ts'
import type { FromIndex, IndexOrder } from './thread-index.ts'

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
  const orders: (IndexOrder & { readonly act: 'check' | 'forget' | 'settle' })[] = []
  /** The last order to follow, and whether all that it asked for is done. */
  let followed = 0
  let followedAtMs = 0
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
      sendFailure(error)
    } finally {
      isBusy = false
      if (isStopping) close()
    }
  }

  /** @returns false if nothing is left to do */
  function workSome(open: MirrorIndex): boolean {
    if (isStopping) return false
    const order = orders.shift()
    if (order !== undefined) {
      let isGood = true
      if (order.act === 'settle') open.catchUp()
      else isGood = order.act === 'check' ? open.check(order) : open.forgetWords()
      isWaiting = true
      send({ kind: 'done', isGood })
      return true
    }
    if (isWaiting) {
      const upTo = followed
      const left = open.step()
      isWaiting = left > 0 || followed > upTo
      hasGrown ||= left >= GROWN_MIN
      const { timesRenewed, checkedAtMs } = open
      send({ kind: 'step', upTo, left, timesRenewed, checkedAtMs })
      return true
    }
    if (performance.now() - followedAtMs >= QUIET_MS && open.needsMerge) {
      open.mergeSome()
      return true
    }
    if (hasGrown) open.shrinkMemory()
    hasGrown = false
    return false
  }

  function sendFailure(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'fault'
    const message = error instanceof Error ? error.message : String(error)
    orders.length = 0
    send({ kind: 'failed', code, message, isDamage: isDamage(error) })
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
    if (message.act === 'follow') {
      followed = message.num
      followedAtMs = performance.now()
      isWaiting = true
    } else orders.push(message)
    void work()
  })
  void work()
}
