import * as z from 'zod/mini'
import {
  chatId,
  count,
  maybeAmount,
  maybeCount,
  maybeText,
  maybeTime,
  projectId,
  says,
  text,
  amount,
  named,
  type Answer,
} from './common.ts'
import { projectRef } from './projects.ts'

const calls = z.object({
  calls: count,
  completed: count,
  errors: count,
  rejected: count,
  cancelled: count,
  running: count,
})
export type CallCounts = Answer<typeof calls>

const seriesRow = z.object({
  start: says(text, "The bucket's first local date."),
  chats: count,
  messages: count,
  userMessages: count,
  toolCalls: count,
})
export type SeriesRow = Answer<typeof seriesRow>

const distribution = named(
  'Distribution',
  z.object({
    count,
    min: says(maybeAmount, 'All figures are null without values.'),
    median: says(maybeAmount, 'By nearest rank, so it is one of the values.'),
    p90: maybeAmount,
    max: maybeAmount,
    steps: says(
      z.array(z.object({ from: amount, to: maybeAmount, count })),
      'from is inclusive, to is exclusive and null in the last step.',
    ),
  }),
)
export type Distribution = Answer<typeof distribution>

const share = z.object({ name: maybeText, chats: count, messages: count })
const rate = says(maybeAmount, 'Share of the finished calls; null if there are none.')

export const statsAnswer = named(
  'Stats',
  z.object({
    bucket: z.enum(['day', 'week', 'month']),
    timeZone: text,
    from: maybeTime,
    to: maybeTime,
    totals: z.object({
      projects: says(count, 'Projects with a counted message. Lists of projects also have those without.'),
      chats: says(count, 'As chats are listed: without subagents.'),
      subagents: count,
      messages: count,
      userMessages: count,
      toolCalls: count,
      linesAdded: maybeCount,
      linesRemoved: maybeCount,
      filesChanged: maybeCount,
      activeDays: count,
    }),
    known: says(
      z.object({ chats: count, linesAdded: count, linesRemoved: count, filesChanged: count }),
      'How many chats, including subagents, have a value for the total of the same name.',
    ),
    undated: says(
      z.object({ messages: count, chats: count }),
      'Without any time. They are in no number by time, and only in the totals if neither from nor to is given.',
    ),
    approximate: says(
      z.object({ messages: count }),
      'Messages without their own time, counted at the time of a neighbour or of their chat.',
    ),
    uncounted: says(z.object({ chats: count }), 'Chats whose tool calls are not counted by tool and file yet.'),
    series: z.array(seriesRow),
    outOfSeries: says(
      z.object({ messages: count }),
      'Messages so far from the others that the series leaves them out, for example because of a wrong year. The totals ' +
        'have them.',
    ),
    byProject: z.array(z.extend(share, { id: z.nullable(projectId) })),
    byModel: says(z.array(share), "By the model in a message's own row. Most answers have none."),
    byTool: z.array(z.extend(calls, { name: text })),
    byMode: z.array(z.object({ name: maybeText, chats: count })),
    byHour: says(z.array(count), '24 counts.'),
    byWeekday: says(z.array(count), '7 counts, Monday first.'),
    byHourOfWeek: says(z.array(z.array(count)), '7 lists of 24 counts, Monday first.'),
    topFiles: z.array(z.object({ path: text, reads: count, edits: count })),
    calls: z.extend(calls, { successRate: rate, errorRate: rate, rejectionRate: rate }),
    largestChats: z.array(
      z.object({ id: chatId, title: text, project: z.nullable(projectRef), messages: count, sizeBytes: count }),
    ),
    chatLength: distribution,
    chatDuration: distribution,
    longestStreak: says(
      z.nullable(z.object({ days: count, from: text, to: text })),
      'The longest run of days with messages; of equal ones the latest.',
    ),
  }),
)
/**
 * Statistics over messages of threads, without orphans and drafts. Chats are counted as they are listed. Messages and
 * calls of subagents count too. An unknown number is null.
 */
export type Stats = Answer<typeof statsAnswer>
