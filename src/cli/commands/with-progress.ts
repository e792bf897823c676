import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../session.ts'
import { numberText } from '../terminal/formats.ts'

const EVERY_MS = 300

/** Calls `show` on a terminal again and again until the request is answered. If it fails, nothing is shown. */
export async function withProgress<Answer>(
  session: Session,
  request: Promise<Answer>,
  show: () => Promise<void>,
): Promise<Answer> {
  if (!session.progress.isSeen) return request
  const ended = new AbortController()
  const end = (): void => ended.abort()
  request.then(end, end)
  while (!ended.signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    if (!ended.signal.aborted) await show().catch(() => undefined)
  }
  await session.progress.show('')
  return request
}

export const chatsDone = ({ done, total }: { readonly done: number; readonly total: number }): string =>
  `${numberText(done)} of ${numberText(total)} archived chats`
