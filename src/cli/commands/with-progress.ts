import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../session.ts'
import { numberText } from '../terminal/formats.ts'

const EVERY_MS = 300

interface Progress {
  readonly done: number
  readonly total: number
}

/**
 * Waits for a request, and shows on a terminal how far it is. If that cannot be read, nothing is shown.
 * @param read null while nothing is at work
 */
export async function withProgress<Answer>(
  session: Session,
  request: Promise<Answer>,
  read: () => Promise<Progress | null>,
): Promise<Answer> {
  if (!session.progress.isSeen) return request
  const ended = new AbortController()
  const end = (): void => ended.abort()
  request.then(end, end)
  while (!ended.signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    const progress = ended.signal.aborted ? null : await read().catch(() => null)
    if (progress !== null && progress.total > 0) await session.progress.show(chatsDone(progress))
  }
  await session.progress.show('')
  return request
}

export const chatsDone = ({ done, total }: Progress): string =>
  `${numberText(done)} of ${numberText(total)} archived chats`
