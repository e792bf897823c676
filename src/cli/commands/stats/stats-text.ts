import { renderBars, sparkline, type Bar } from '../../terminal/bars.ts'
import { bytesText, countText, durationText, numberText } from '../../terminal/formats.ts'
import type { Screen } from '../../terminal/screen.ts'
import type { Stats } from '../../../api/http/schemas/stats.ts'

/** Longer lists are cut, with a count of the rest. `--json` has all rows. */
const ROWS_MAX = 12
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** On a terminal: totals, curves and bars that fit its width. Elsewhere: the same figures as lines with tabs. */
export function renderStats(stats: Stats, screen: Screen): string {
  const sections: readonly (readonly [string, string])[] = [
    ['Totals', totals(stats, screen)],
    [`Messages by ${stats.bucket}`, series(stats, screen)],
    ['Messages by project', shares(stats.byProject, screen)],
    ['Messages by model, if recorded', shares(stats.byModel, screen)],
    ['Chats by mode', bars(stats.byMode.map(modeBar), screen)],
    ['Tool calls', bars(stats.byTool.map(toolBar), screen)],
    ['Messages by hour', hours(stats, screen)],
    ['Messages by weekday', bars(stats.byWeekday.map(weekdayBar), screen)],
    ['Largest chats', bars(stats.largestChats.map(chatBar), screen)],
    ['Files read and edited', bars(stats.topFiles.map(fileBar), screen)],
  ]
  return sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${screen.colours.bold(title)}\n${text}`)
    .join('\n')
}

function totals(stats: Stats, screen: Screen): string {
  const { totals: sum, known, calls, longestStreak, chatLength, chatDuration } = stats
  const ofChats = (count: number): string => (count === known.chats ? '' : `known for ${count} of ${known.chats} chats`)
  const rows: readonly (readonly [string, string, string?])[] = [
    ['projects', numberText(sum.projects)],
    ['chats', numberText(sum.chats), sum.subagents === 0 ? '' : `and ${countText(sum.subagents, 'subagent')}`],
    ['messages', numberText(sum.messages), `${numberText(sum.userMessages)} from you`],
    ['tool calls', numberText(sum.toolCalls), rates(calls)],
    ['lines added', orUnknown(sum.linesAdded), ofChats(known.linesAdded)],
    ['lines removed', orUnknown(sum.linesRemoved), ofChats(known.linesRemoved)],
    ['files changed', orUnknown(sum.filesChanged), ofChats(known.filesChanged)],
    ['active days', numberText(sum.activeDays)],
    [
      'longest streak',
      longestStreak === null ? '-' : countText(longestStreak.days, 'day'),
      longestStreak === null ? '' : `${longestStreak.from} to ${longestStreak.to}`,
    ],
    [
      'messages per chat',
      orUnknown(chatLength.median),
      `median; p90 ${orUnknown(chatLength.p90)}, max ${orUnknown(chatLength.max)}`,
    ],
    [
      'time per chat',
      timeOrUnknown(chatDuration.median),
      `median; p90 ${timeOrUnknown(chatDuration.p90)}, max ${timeOrUnknown(chatDuration.max)}`,
    ],
    ...uncertainTimes(stats),
  ]
  const asBars = rows.map(([label, figure, note = '']) => ({ label, value: null, figure, note }))
  return renderBars(asBars, screen)
}

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
export const isOfRange = ({ from, to }: Stats): boolean => from !== null || to !== null

const orUnknown = (value: number | null): string => (value === null ? '-' : numberText(value))

const timeOrUnknown = (durationMs: number | null): string => (durationMs === null ? '-' : durationText(durationMs))

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`

function rates({ successRate, errorRate, rejectionRate }: Stats['calls']): string {
  if (successRate === null || errorRate === null || rejectionRate === null) return ''
  return `${percent(successRate)} completed, ${percent(errorRate)} failed, ${percent(rejectionRate)} rejected`
}

function series({ series: rows }: Stats, screen: Screen): string {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return ''
  if (screen.width === null) {
    const lines = rows.map(({ start, chats, messages, userMessages, toolCalls }) =>
      [start, messages, `${userMessages} from you`, `${toolCalls} calls`, `${chats} chats`].join('\t'),
    )
    return lines.map((line) => `${line}\n`).join('')
  }
  const curve = sparkline(
    rows.map(({ messages }) => messages),
    screen.width,
    screen,
  )
  const most = Math.max(...rows.map(({ messages }) => messages))
  const span = first === last ? first.start : `${first.start} to ${last.start}`
  return `${screen.colours.cyan(curve)}\n${span}, max ${numberText(most)}\n`
}

const HOURS_AXIS = '0     6     12    18   23'

function hours({ byHour }: Stats, screen: Screen): string {
  const rows = byHour.map((messages, hour) => ({ hour: `${String(hour).padStart(2, '0')}:00`, messages }))
  if (screen.width === null) return rows.map(({ hour, messages }) => `${hour}\t${messages}\n`).join('')
  const [busiest] = rows.toSorted((one, other) => other.messages - one.messages)
  const most = busiest === undefined ? '' : `most at ${busiest.hour}: ${numberText(busiest.messages)}\n`
  return `${screen.colours.cyan(sparkline(byHour, 24, screen))}\n${screen.colours.dim(HOURS_AXIS)}\n${most}`
}

function bars(all: readonly Bar[], screen: Screen): string {
  if (screen.width === null) return renderBars(all, screen)
  const more = all.length - ROWS_MAX
  return renderBars(all.slice(0, ROWS_MAX), screen) + (more > 0 ? screen.colours.dim(`and ${more} more\n`) : '')
}

function shares(rows: Stats['byModel'], screen: Screen): string {
  return bars(
    rows.map(({ name, chats, messages }) => ({
      label: name ?? '-',
      value: messages,
      figure: numberText(messages),
      note: countText(chats, 'chat'),
    })),
    screen,
  )
}

const modeBar = ({ name, chats }: Stats['byMode'][number]): Bar => ({
  label: name ?? '-',
  value: chats,
  figure: numberText(chats),
})

function toolBar({ name, calls, errors, rejected }: Stats['byTool'][number]): Bar {
  const notes = [
    errors === 0 ? [] : [`${numberText(errors)} failed`],
    rejected === 0 ? [] : [`${numberText(rejected)} rejected`],
  ]
  return { label: name, value: calls, figure: numberText(calls), note: notes.flat().join(', ') }
}

const weekdayBar = (messages: number, day: number): Bar => ({
  label: weekdays[day] ?? '',
  value: messages,
  figure: numberText(messages),
})

const chatBar = ({ id, title, messages, sizeBytes }: Stats['largestChats'][number]): Bar => ({
  label: title,
  value: sizeBytes,
  figure: bytesText(sizeBytes),
  note: `${countText(messages, 'message')}  ${id}`,
})

const fileBar = ({ path, reads, edits }: Stats['topFiles'][number]): Bar => ({
  label: path,
  value: reads + edits,
  figure: numberText(reads + edits),
  note: `${numberText(reads)} read, ${numberText(edits)} edited`,
})
