import { atLeast, numberText } from './formats.ts'
import type { PageOptions } from '../input/options.ts'
import type { Session } from '../session.ts'

interface Counted {
  readonly total: number
  /** A search counts up to 1,000. */
  readonly totalIsExact?: boolean | undefined
  readonly offset?: number | undefined
}

interface Page extends Counted {
  readonly items: readonly unknown[]
  readonly limit?: number | undefined
}

/**
 * Notes on stderr that there are more results, and how to see them. Otherwise a person who counts the lines of a pipe
 * would take one page for everything. A program that passes `--limit` knows that the list is cut.
 */
export async function notePage(session: Session, page: Page, { limit }: PageOptions): Promise<void> {
  const { items, total } = page
  const next = (page.offset ?? 0) + items.length
  const isKnown = session.screen.width === null && limit !== undefined
  const mayHaveMore = page.totalIsExact === false && items.length === page.limit && next <= SEARCH_OFFSET_MAX
  if (isKnown || items.length === 0 || (next >= total && !mayHaveMore)) return
  await session.note(`${numberText(next)} of ${totalText(page)}. See more with --offset ${next}\n`)
}

/** The largest offset of a search. */
const SEARCH_OFFSET_MAX = 10_000

const totalText = ({ total, totalIsExact = true }: Counted): string => atLeast(totalIsExact, numberText(total))

/** Why a page is empty: there are no results, or the offset is too large. */
export function emptyText(page: Counted, nothing: string): string {
  if (page.total === 0) return nothing
  return `Nothing at --offset ${page.offset ?? 0}. There are ${totalText(page)} results.`
}
