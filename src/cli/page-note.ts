import { numberText } from './formats.ts'
import type { Session } from './session.ts'

interface Page {
  readonly items: readonly unknown[]
  readonly total: number
  readonly offset?: number | undefined
}

/** Says on a terminal that there is more than was listed, and how to see it. */
export async function notePage(session: Session, page: Page): Promise<void> {
  const next = (page.offset ?? 0) + page.items.length
  if (session.screen.width === null || page.items.length === 0 || next >= page.total) return
  await session.note(`${numberText(next)} of ${numberText(page.total)}; the next ones with --offset ${next}\n`)
}
