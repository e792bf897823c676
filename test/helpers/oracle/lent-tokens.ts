import { isEmpty } from './parts.ts'
import type { Timed } from './thread.ts'

/**
 * For each bubble of a thread, the bubbles whose tokens count for it. A row with nothing to show gives its tokens to the
 * last message before it in its turn, else to the first one after it, else to the last of all.
 * @param thread in order, including orphans
 */
export function lendersOf(thread: readonly Timed[]): ReadonlyMap<Timed, readonly Timed[]> {
  const line = thread.filter(({ position }) => position !== null)
  const isShown = (one: Timed): boolean => !isEmpty(one.bubble.holdings)
  const isUser = ({ bubble }: Timed): boolean => bubble.value['type'] === 1
  const lenders = new Map<Timed, Timed[]>()
  for (const [at, one] of line.entries()) {
    if (isShown(one)) continue
    const begin = line.findLastIndex((other, index) => index <= at && isUser(other))
    const receiver =
      line.slice(Math.max(begin, 0), at).findLast(isShown) ?? line.slice(at).find(isShown) ?? line.findLast(isShown)
    if (receiver !== undefined) lenders.set(receiver, [...(lenders.get(receiver) ?? []), one])
  }
  return lenders
}
