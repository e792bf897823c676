import { Option, type Command } from 'commander'
import type { Stats } from '../../api/answers/stats.ts'
import { addFilters, hasDates, inOwnZone, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import { noteUnknown, undatedText } from './lists.ts'

interface StatsOptions extends Options {
  readonly bucket?: 'day' | 'week' | 'month'
}

export function addCommand(program: Command, session: Session): void {
  const command = addFilters(
    program.command('stats').description('show how much was done, by day, project, model and tool'),
    'project',
    'machine',
    'period',
  )
  command.addOption(new Option('--bucket <unit>', 'unit of time; by default day').choices(['day', 'week', 'month']))
  const another = 'cursordex stats --project shop --tz Europe/Berlin --json'
  const examples = ['cursordex stats --from 2026-01-01 --bucket week', another] as const
  session.asks(command, examples, async (answers, { json, ...given }: StatsOptions) => {
    const { screen } = session
    const query = inOwnZone(given, screen, true)
    const all = await answers.get('/api/stats', { query })
    if (json === true) return session.printJson(all)
    if (all.uncounted.chats > 0) {
      const chats = countText(all.uncounted.chats, 'chat')
      await session.note(`Tool calls of ${chats} are not counted yet. Run the command again in a moment.\n`)
    }
    if (all.undated.messages > 0 && hasDates(given)) await session.note(undatedText(all.undated.messages))
    if (all.totals.messages === 0) {
      await session.note('No messages.\n')
      return noteUnknown(given, answers, session)
    }
    if (screen.width === null || hasDates(given) || given.bucket !== undefined) {
      return session.show(renderSeries(all, screen) + renderShares(all, ROWS_MAX, screen))
    }
    const spans = await Promise.all(SPANS.map(([, from]) => answers.get('/api/stats', { query: { ...query, from } })))
    const rows = spans.map(({ totals }, index) => ({ ...totals, start: SPANS[index]?.[0] ?? '' }))
    const month = spans.at(-1)
    const recent = month === undefined || month.totals.messages === 0 ? all : month
    const table = renderRows(columnsOf(''), [...rows, { ...all.totals, start: 'ever' }], screen)
    await session.show(table + renderShares(recent, ROWS_OF_SCREEN, screen))
  })
}

/** What a terminal shows unless a period or a unit is given. */
export const SPANS = [
  ['today', 'today'],
  ['this month', 'this month'],
  ['last 30 days', '29d'],
] as const

/** Longer lists are cut, with a count of the rest. `--json` has all rows. */
const ROWS_MAX = 12
/** With it, everything fits a terminal of 24 lines. */
const ROWS_OF_SCREEN = 3

/** A period, or what is known of several. */
type Period = { readonly start: string } & Partial<Stats['series'][number]>

const columnsOf = (title: string): readonly RowColumn<Period>[] => [
  { title, read: ({ start }) => start },
  { title: 'messages', align: 'right', read: ({ messages = '' }) => messages },
  { title: 'chats', align: 'right', read: ({ chats = '' }) => chats },
  { title: 'from you', align: 'right', from: 60, read: ({ userMessages = '' }) => userMessages },
  { title: 'tool calls', align: 'right', from: 60, read: ({ toolCalls = '' }) => toolCalls },
]

/** On a terminal the newest first. Elsewhere all periods, the oldest first. */
function renderSeries({ series, totals, bucket, undated, from, to }: Stats, screen: Screen): string {
  if (screen.width === null) return renderRows(columnsOf(bucket), series, screen)
  const busy = series.filter(({ messages, chats }) => messages + chats > 0).toReversed()
  const more = busy.length - ROWS_MAX
  const periods: readonly Period[] = [
    ...busy.slice(0, ROWS_MAX),
    ...(more > 0 ? [{ start: `${numberText(more)} earlier` }] : []),
    ...(undated.messages > 0 && from === null && to === null ? [{ ...undated, start: 'undated' }] : []),
    { ...totals, start: 'all' },
  ]
  return renderRows(columnsOf(bucket), periods, screen)
}

/** A name, its count and a note. */
type Share = readonly [name: string, count: number, note: string]

/** What the messages and calls of a period belong to, the largest first. */
function renderShares(stats: Stats, most: number, screen: Screen): string {
  const lists: readonly (readonly [title: string, shares: readonly Share[]])[] = [
    ['Messages by project', stats.byProject.map(shareOf)],
    ['Messages by model, if recorded', stats.byModel.map(shareOf)],
    ['Tool calls', stats.byTool.map(callsOf)],
  ]
  const period = most === ROWS_OF_SCREEN && stats.from !== null ? ', last 30 days' : ''
  return lists
    .filter(([, shares]) => shares.length > 0)
    .map(([title, shares]) => {
      const shown = screen.width === null ? shares : shares.slice(0, most)
      const more = shares.length - shown.length
      const rest = more > 0 ? `${screen.colours.dim(`and ${more} more`)}\n` : ''
      return `\n${screen.colours.bold(`${title}${period}`)}\n${renderBars(shown, screen)}${rest}`
    })
    .join('')
}

/** On a terminal with bars, of which the greatest count has the longest and none is empty. */
function renderBars(shares: readonly Share[], screen: Screen): string {
  const largest = Math.max(1, ...shares.map(([, count]) => count))
  const longest = Math.floor((screen.width ?? 0) / 4)
  const barOf = (count: number): string => '█'.repeat(Math.ceil((count / largest) * longest))
  const bar = { title: '', paint: screen.colours.cyan, read: ([, count]: Share) => barOf(count) }
  const columns: readonly RowColumn<Share>[] = [
    { title: '', widthMin: 8, read: ([name]) => name },
    { title: '', align: 'right', read: ([, count]) => count },
    ...(screen.width === null ? [] : [bar]),
    { title: '', widthMin: 0, paint: screen.colours.dim, read: ([, , note]) => note },
  ]
  return renderRows(columns, shares, screen)
}

const shareOf = ({ name, chats, messages }: Stats['byModel'][number]): Share => [
  name ?? '-',
  messages,
  countText(chats, 'chat'),
]

function callsOf({ name, calls, errors, rejected }: Stats['byTool'][number]): Share {
  const notes = [
    errors > 0 ? `${numberText(errors)} failed` : '',
    rejected > 0 ? `${numberText(rejected)} rejected` : '',
  ]
  return [name, calls, notes.filter((note) => note !== '').join(', ')]
}
