import { Option, type Command } from 'commander'
import { bucketUnits } from '../../api/buckets.ts'
import { statsAnswer, type Stats } from '../../api/answers/stats.ts'
import { printableLine } from '../../text/printable.ts'
import { addDates, addExamples, addFilters, addJson, inOwnZone, queryOf, type Options } from '../input/options.ts'
import { readAnswer, type Session } from '../session.ts'
import { cutTo } from '../terminal/text.ts'
import { bytesText, countText, durationText, numberText, shownIds } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderBars, renderRows, type Bar, type RowColumn } from '../terminal/table.ts'
import { noteUnknown, undatedText } from './list.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('stats')
  addDates(addFilters(command, 'project', 'machine'))
  command.addOption(new Option('--bucket <unit>', 'unit of time; by default day').choices([...bucketUnits]))
  addJson(command)
  const another = 'cursordex stats --project shop --tz Europe/Berlin --json'
  addExamples(command, 'cursordex stats --from 2026-01-01 --bucket week', another)
  command.action(() => showStats(command, session))
}

async function showStats(command: Command, session: Session): Promise<void> {
  const { json: _, ...filters } = command.opts<Options>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/stats', queryOf({ ...inOwnZone(filters, session.screen, true) }))
    const decoded = await readAnswer(statsAnswer, answer, command, session)
    if (decoded === null) return
    if (decoded.uncounted.chats > 0) {
      const chats = countText(decoded.uncounted.chats, 'chat')
      await session.note(`Tool calls of ${chats} are not counted yet. Run the command again in a moment.\n`)
    }
    const { messages } = decoded.undated
    const leftOut = messages > 0 && isOfRange(decoded) ? undatedText(messages) : ''
    if (decoded.totals.messages === 0) {
      await session.note(`No messages.\n${leftOut}`)
      return noteUnknown(filters, answers, session)
    }
    await session.print(renderStats(decoded, session.screen))
  })
}

/** Longer lists are cut, with a count of the rest. `--json` has all rows. */
const ROWS_MAX = 12
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** On a terminal: the newest first, the totals last. Elsewhere: the same figures as lines with tabs. */
function renderStats(stats: Stats, screen: Screen): string {
  const sum = ['Totals', totals(stats, screen)] as const
  const curve = [`Messages by ${stats.bucket}`, series(stats, screen)] as const
  const rest: readonly (readonly [string, string])[] = [
    ['Messages by project', bars(stats.byProject.map(share), screen)],
    ['Messages by model, if recorded', bars(stats.byModel.map(share), screen)],
    [
      'Chats by mode',
      bars(
        stats.byMode.map(({ name, chats }) => bar(name, chats)),
        screen,
      ),
    ],
    ['Tool calls', bars(stats.byTool.map(toolBar), screen)],
    ['Messages by hour', hours(stats, screen)],
    [
      'Messages by weekday',
      bars(
        stats.byWeekday.map((messages, day) => bar(weekdays[day] ?? '', messages)),
        screen,
      ),
    ],
    ['Largest chats', bars(chatBars(stats.largestChats, screen), screen)],
    ['Files read and edited (top 20)', bars(stats.topFiles.map(fileBar), screen)],
  ]
  const sections = screen.width === null ? [sum, curve, ...rest] : [curve, ...rest, sum]
  return sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${screen.colours.bold(title)}\n${text}`)
    .join('\n')
}

function totals(stats: Stats, screen: Screen): string {
  const { totals: sum, known, calls, longestStreak, chatLength, chatDuration } = stats
  const kinds = sum.subagents === 0 ? 'chats' : 'chats and subagents'
  const ofChats = (count: number): string =>
    count === known.chats ? '' : `known for ${count} of ${known.chats} ${kinds}`
  const rows: readonly (readonly [label: string, figure: string, note?: string])[] = [
    ['projects', numberText(sum.projects), 'with messages'],
    ['chats', numberText(sum.chats), sum.subagents === 0 ? '' : `and ${countText(sum.subagents, 'subagent')}`],
    ['messages', numberText(sum.messages), `${numberText(sum.userMessages)} from you`],
    ['tool calls', numberText(sum.toolCalls), rates(calls)],
    ['lines added', orUnknown(sum.linesAdded), ofChats(known.linesAdded)],
    ['lines removed', orUnknown(sum.linesRemoved), ofChats(known.linesRemoved)],
    ['files changed', orUnknown(sum.filesChanged), ofChats(known.filesChanged)],
    ['active days', numberText(sum.activeDays)],
    longestStreak === null
      ? ['longest streak', '-']
      : ['longest streak', countText(longestStreak.days, 'day'), `${longestStreak.from} to ${longestStreak.to}`],
    ['messages per chat', ...spread(chatLength, orUnknown)],
    ['time per chat', ...spread(chatDuration, timeOrUnknown)],
    ...uncertainTimes(stats),
  ]
  return renderBars(
    rows.map(([label, figure, note = '']) => ({ label, value: null, figure, note })),
    screen,
  )
}

const spread = ({ median, p90, max }: Stats['chatLength'], textOf: (value: number | null) => string) =>
  [textOf(median), `median; p90 ${textOf(p90)}, max ${textOf(max)}`] as const

/** How many messages have no time or an uncertain one, and where they are counted. */
function uncertainTimes(stats: Stats): (readonly [string, string, string])[] {
  const { undated, approximate, outOfSeries } = stats
  const rows: readonly (readonly [string, number, string])[] = [
    ['without a time', undated.messages, isOfRange(stats) ? 'messages, not counted' : 'messages'],
    ['approximate time', approximate.messages, 'messages, counted at the time of a neighbour or of the chat'],
    ['outliers', outOfSeries.messages, `messages, not in the messages by ${stats.bucket}`],
  ]
  return rows.filter(([, count]) => count > 0).map(([label, count, note]) => [label, numberText(count), note])
}

/** Within a date range, messages without a time are not counted. */
const isOfRange = ({ from, to }: Stats): boolean => from !== null || to !== null

const orUnknown = (value: number | null): string => (value === null ? '-' : numberText(value))

const timeOrUnknown = (durationMs: number | null): string => (durationMs === null ? '-' : durationText(durationMs))

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`

function rates({ successRate, errorRate, rejectionRate }: Stats['calls']): string {
  if (successRate === null || errorRate === null || rejectionRate === null) return ''
  return `${percent(successRate)} completed, ${percent(errorRate)} failed, ${percent(rejectionRate)} rejected`
}

/** A period, or what is known of several. */
type Period = { readonly start: string } & Partial<Stats['series'][number]>

function series(stats: Stats, screen: Screen): string {
  const { series: rows, totals: sum, bucket, undated } = stats
  if (rows.length === 0) return ''
  if (screen.width === null) {
    const lines = rows.map(({ start, chats, messages, userMessages, toolCalls }) =>
      [start, messages, `${userMessages} from you`, `${toolCalls} calls`, `${chats} chats`].join('\t'),
    )
    return lines.map((line) => `${line}\n`).join('')
  }
  const busy = rows.filter(({ messages, chats }) => messages + chats > 0).toReversed()
  const more = busy.length - ROWS_MAX
  const periods: readonly Period[] = [
    ...busy.slice(0, ROWS_MAX),
    ...(more > 0 ? [{ start: `${numberText(more)} earlier` }] : []),
    ...(undated.messages > 0 && !isOfRange(stats) ? [{ start: 'undated', messages: undated.messages }] : []),
    { ...sum, start: 'all' },
  ]
  const columns: readonly RowColumn<Period>[] = [
    { title: bucket, read: ({ start }) => start },
    { title: 'messages', align: 'right', read: ({ messages = '' }) => messages },
    { title: 'chats', align: 'right', read: ({ chats = '' }) => chats },
    { title: 'from you', align: 'right', from: 60, read: ({ userMessages = '' }) => userMessages },
    { title: 'tool calls', align: 'right', from: 60, read: ({ toolCalls = '' }) => toolCalls },
  ]
  return renderRows(columns, periods, screen)
}

function bars(all: readonly Bar[], screen: Screen): string {
  if (screen.width === null) return renderBars(all, screen)
  const more = all.length - ROWS_MAX
  return renderBars(all.slice(0, ROWS_MAX), screen) + (more > 0 ? `${screen.colours.dim(`and ${more} more`)}\n` : '')
}

const bar = (label: string | null, value: number, note = '', figure: string = numberText(value)): Bar => ({
  label: label ?? '-',
  value,
  figure,
  note,
})

const share = ({ name, chats, messages }: Stats['byModel'][number]): Bar =>
  bar(name, messages, countText(chats, 'chat'))

function toolBar({ name, calls, errors, rejected }: Stats['byTool'][number]): Bar {
  const notes = [
    errors > 0 ? `${numberText(errors)} failed` : '',
    rejected > 0 ? `${numberText(rejected)} rejected` : '',
  ]
  return bar(name, calls, notes.filter((note) => note !== '').join(', '))
}

const hourOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/** A terminal shows the busiest hour. */
function hours({ byHour }: Stats, { width }: Screen): string {
  if (width === null) return byHour.map((messages, hour) => `${hourOf(hour)}\t${messages}\n`).join('')
  const most = Math.max(...byHour)
  return `most at ${hourOf(byHour.indexOf(most))}: ${numberText(most)}\n`
}

function chatBars(chats: Stats['largestChats'], screen: Screen): Bar[] {
  const ids = chats.map(({ id }) => id)
  const short = shownIds(ids, screen)
  return chats.map(({ id, title, messages, sizeBytes }) => {
    // A longer title would leave no room for the id.
    const label = screen.width === null ? title : cutTo(printableLine(title), Math.floor(screen.width / 2))
    return bar(label, sizeBytes, `${countText(messages, 'message')}  ${short(id)}`, bytesText(sizeBytes))
  })
}

const fileBar = ({ path, reads, edits }: Stats['topFiles'][number]): Bar =>
  bar(path, reads + edits, `${numberText(reads)} read, ${numberText(edits)} edited`)
