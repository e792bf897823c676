import * as z from 'zod/mini'
import * as s from './common.ts'
import { projectRef } from './projects.ts'

const calls = z.object({
  calls: s.count,
  completed: s.count,
  errors: s.count,
  rejected: s.count,
  cancelled: s.count,
  running: s.count,
})
export type CallCounts = s.Answer<typeof calls>

const seriesRow = z.object({
  start: s.says(s.text, "The bucket's first local date."),
  chats: s.count,
  messages: s.count,
  userMessages: s.count,
  toolCalls: s.count,
})
export type SeriesRow = s.Answer<typeof seriesRow>

const share = z.object({ name: s.maybeText, chats: s.count, messages: s.count })
const rate = s.says(s.maybeAmount, 'Share of the finished calls; null if there are none.')

export const statsAnswer = s.named(
  'Stats',
  z.object({
    bucket: z.enum(['day', 'week', 'month']),
    timeZone: s.text,
    from: s.maybeTime,
    to: s.maybeTime,
    totals: z.object({
      projects: s.says(s.count, 'Projects with a counted message. Lists of projects also have those without.'),
      chats: s.says(s.count, 'As chats are listed: without subagents.'),
      subagents: s.count,
      messages: s.count,
      userMessages: s.count,
      toolCalls: s.count,
      linesAdded: s.maybeCount,
      linesRemoved: s.maybeCount,
      filesChanged: s.maybeCount,
      activeDays: s.count,
    }),
    known: s.says(
      z.object({ chats: s.count, linesAdded: s.count, linesRemoved: s.count, filesChanged: s.count }),
      'How many chats, including subagents, have a value for the total of the same name.',
    ),
    undated: s.says(
      z.object({ messages: s.count, chats: s.count }),
      'Without any time. They are in no number by time, and only in the totals if neither from nor to is given.',
    ),
    approximate: s.says(
      z.object({ messages: s.count }),
      'Messages without their own time, counted at the time of a neighbour or of their chat.',
    ),
    uncounted: s.says(z.object({ chats: s.count }), 'Chats whose tool calls are not counted by tool and file yet.'),
    series: z.array(seriesRow),
    outOfSeries: s.says(
      z.object({ messages: s.count }),
      'Messages so far from the others that the series leaves them out, for example because of a wrong year. The totals ' +
        'have them.',
    ),
    byProject: z.array(z.extend(share, { id: z.nullable(s.projectId) })),
    byModel: s.says(z.array(share), "By the model in a message's own row. Most answers have none."),
    byTool: z.array(z.extend(calls, { name: s.text })),
    byMode: z.array(z.object({ name: s.maybeText, chats: s.count })),
    byHour: s.says(z.array(s.count), '24 counts.'),
    byWeekday: s.says(z.array(s.count), '7 counts, Monday first.'),
    byHourOfWeek: s.says(z.array(z.array(s.count)), '7 lists of 24 counts, Monday first.'),
    topFiles: z.array(z.object({ path: s.text, reads: s.count, edits: s.count })),
    calls: z.extend(calls, { successRate: rate, errorRate: rate, rejectionRate: rate }),
    largestChats: z.array(
      z.object({ id: s.chatId, title: s.text, project: z.nullable(projectRef), messages: s.count, sizeBytes: s.count }),
    ),
  }),
)
/**
 * Statistics over messages of threads, without orphans and drafts. Chats are counted as they are listed. Messages and
 * calls of subagents count too. An unknown number is null.
 */
export type Stats = s.Answer<typeof statsAnswer>
