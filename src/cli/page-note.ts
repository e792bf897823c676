import { numberText } from './formats.ts'
import type { PageOptions } from './options.ts'
import type { Session } from './session.ts'

interface Page {
  readonly items: readonly unknown[]
  readonly total: number
  readonly offset?: number | undefined
}

interface Counted extends Pick<Page, 'total' | 'offset'> {
  /** A search stops counting behind 1,000. */
  readonly totalIsExact?: boolean | undefined
}

/**
 * Says beside the output that there is more than was listed, and how to see it: who counts the lines in a pipe would take
 * a page for all. A program that asks for so many in a pipe knows.
 */
export async function notePage(session: Session, page: Page, { limit }: PageOptions): Promise<void> {
  const next = (page.offset ?? 0) + page.items.length
  const isKnown = session.screen.width === null && limit !== undefined
  if (isKnown || page.items.length === 0 || next >= page.total) return
  await session.note(`${numberText(next)} of ${numberText(page.total)}; the next ones with --offset ${next}\n`)
}

/** Why a page is empty: nothing is there, or all of it stands before where the page begins. */
export function emptyText({ total, totalIsExact = true, offset = 0 }: Counted, nothing: string): string {
  if (total === 0) return nothing
  return `Nothing stands from --offset ${offset} on: there are ${totalIsExact ? '' : 'at least '}${numberText(total)}.`
}
