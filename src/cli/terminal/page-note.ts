import { numberText } from './formats.ts'
import type { PageOptions } from '../input/options.ts'
import type { Session } from '../session.ts'

interface Counted {
  readonly total: number
  /** A search stops counting behind 1,000. */
  readonly totalIsExact?: boolean | undefined
  readonly offset?: number | undefined
}

interface Page extends Counted {
  readonly items: readonly unknown[]
  readonly limit?: number | undefined
}

/**
 * Says beside the output that there is more than was listed, and how to see it: who counts the lines in a pipe would take
 * a page for all. A program that asks for so many in a pipe knows.
 */
export async function notePage(session: Session, page: Page, { limit }: PageOptions): Promise<void> {
  const { items, total } = page
  const next = (page.offset ?? 0) + items.length
  const isKnown = session.screen.width === null && limit !== undefined
  const mayGoOn = page.totalIsExact === false && items.length === page.limit && next <= SEARCH_OFFSET_MAX
  if (isKnown || items.length === 0 || (next >= total && !mayGoOn)) return
  await session.note(`${numberText(next)} of ${totalText(page)}; the next ones with --offset ${next}\n`)
}

/** A search begins no page behind it. */
const SEARCH_OFFSET_MAX = 10_000

const totalText = ({ total, totalIsExact = true }: Counted): string =>
  `${totalIsExact ? '' : 'at least '}${numberText(total)}`

/** Why a page is empty: nothing is there, or all of it stands before where the page begins. */
export function emptyText(page: Counted, nothing: string): string {
  if (page.total === 0) return nothing
  return `Nothing stands from --offset ${page.offset ?? 0} on: there are ${totalText(page)}.`
}
