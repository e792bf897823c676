import type { Command } from 'commander'
import * as z from 'zod/mini'
import { chatsAnswer } from '../../api/answers/chats.ts'
import { printableLine } from '../../text/printable.ts'
import type { Answers } from '../client/answers.ts'
import { inOwnZone, queryOf, type Options } from '../input/options.ts'
import { decodeAnswer, readAnswer, type Session } from '../session.ts'
import { countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'

interface Page {
  readonly items: readonly unknown[]
  readonly total: number
  /** A search counts up to 1,000. */
  readonly totalIsExact?: boolean | undefined
  readonly offset?: number | undefined
  readonly limit?: number | undefined
  /** How many items a date range leaves out because they have no date. */
  readonly undated?: number | undefined
  readonly warnings?: readonly string[] | undefined
}

/** A list that a route answers in pages. */
export interface List<Answer extends Page, Row> {
  readonly path: string
  readonly schema: z.core.$ZodType<Answer>
  readonly rowsOf: (page: Answer, screen: Screen) => readonly Row[]
  readonly columns: readonly RowColumn<Row>[]
  /** What is said if the list is empty. */
  readonly nothing: string
}

/** For the types of its rows. */
export const listOf = <Answer extends Page, Row>(list: List<Answer, Row>): List<Answer, Row> => list

/**
 * Asks for a page of a list, and prints it as a table, or as it came with `--json`.
 * @param more parameters instead of options of the command
 */
export async function printList<Answer extends Page, Row>(
  list: List<Answer, Row>,
  answers: Answers,
  command: Command,
  session: Session,
  more: Parameters<typeof queryOf>[0] = {},
): Promise<void> {
  const { json: _, ...filters } = command.opts<Options>()
  const query = queryOf({ ...inOwnZone(filters, session.screen), ...more })
  const page = await readAnswer(list.schema, await answers.get(list.path, query), command, session)
  if (page === null) return
  const rows = list.rowsOf(page, session.screen)
  if (rows.length > 0) await session.print(renderRows(list.columns, rows, session.screen))
  else {
    await session.note(`${emptyText(page, list.nothing)}\n`)
    await noteUnknown(filters, answers, session)
  }
  const { undated = 0, warnings = [] } = page
  if (undated > 0) await session.note(`${countText(undated, 'more chat')} without a date.\n`)
  for (const warning of warnings) await session.note(`${printableLine(warning)}\n`)
  await notePage(session, page, filters)
}

/**
 * Notes on stderr that there are more results, and how to see them. Otherwise a person who counts the lines of a pipe
 * would take one page for everything. A program that passes `--limit` knows that the list is cut.
 */
export async function notePage(session: Session, page: Page, { limit }: Options): Promise<void> {
  const { items, total } = page
  const next = (page.offset ?? 0) + items.length
  const isKnown = session.screen.width === null && limit !== undefined
  const mayHaveMore = page.totalIsExact === false && items.length === page.limit && next <= SEARCH_OFFSET_MAX
  if (isKnown || items.length === 0 || (next >= total && !mayHaveMore)) return
  await session.note(`${numberText(next)} of ${totalText(page)}. See more with --offset ${next}\n`)
}

/** The largest offset of a search. */
const SEARCH_OFFSET_MAX = 10_000

const totalText = ({ total, totalIsExact = true }: Page): string => atLeast(totalIsExact, numberText(total))

/** Why a page is empty: there are no results, or the offset is too large. */
export function emptyText(page: Page, nothing: string): string {
  if (page.total === 0) return nothing
  return `Nothing at --offset ${page.offset ?? 0}. There are ${totalText(page)} results.`
}

/** The filters that take a name, each with the command that lists all names. */
const listedBy = {
  project: 'cursordex projects',
  model: 'cursordex tokens --group-by model',
  mode: 'cursordex stats',
  machine: 'cursordex hub status',
} as const

type NamedFilters = Readonly<Partial<Record<keyof typeof listedBy, readonly string[]>>>

const counted = z.pick(chatsAnswer, { total: true })

/** Notes which names of the filters no chat has. They may be misspelt, or only a part of a name. */
export async function noteUnknown(filters: NamedFilters, answers: Answers, session: Session): Promise<void> {
  for (const kind of ['project', 'model', 'mode', 'machine'] as const) {
    for (const name of filters[kind] ?? []) {
      const query = queryOf({ [kind]: name, includeEmpty: true, subagents: true, limit: 1 })
      const { total } = decodeAnswer(counted, await answers.get('/api/chats', query))
      if (total > 0) continue
      await session.note(`No chat has the ${kind} "${printableLine(name)}". List all with: ${listedBy[kind]}\n`)
    }
  }
}

/** A count that may be a lower bound. */
export const atLeast = (isExact: boolean, count: string): string => `${isExact ? '' : 'at least '}${count}`

/** What a date range leaves out. */
export const undatedText = (messages: number): string =>
  `${countText(messages, 'message')} without a time not counted.\n`
