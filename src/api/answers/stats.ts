import * as z from 'zod/mini'
import * as s from './common.ts'
import { toolCount } from './chats.ts'

const seriesRow = z.object({
  start: s.text("The bucket's first local date."),
  chats: s.count(),
  messages: s.count(),
  userMessages: s.count(),
  toolCalls: s.count(),
})
export type SeriesRow = s.Answer<typeof seriesRow>

const share = z.object({ name: s.maybeText(), chats: s.count(), messages: s.count() })

export const statsAnswer = s.named(
  'Stats',
  z.object({
    bucket: z.enum(['day', 'week', 'month']),
    timeZone: s.text(),
    from: s.maybeTime(),
    to: s.maybeTime(),
    totals: z.object({
      projects: s.count('Projects with a counted message. Lists of projects also have those without.'),
      chats: s.count('As chats are listed: without subagents.'),
      subagents: s.count(),
      messages: s.count(),
      userMessages: s.count(),
      toolCalls: s.count(),
      linesAdded: s.maybeCount(),
      linesRemoved: s.maybeCount(),
      activeDays: s.count(),
    }),
    undated: s.says(
      z.object({ messages: s.count(), chats: s.count() }),
      'Without any time. They are in no number by time, and only in the totals if neither from nor to is given.',
    ),
    uncounted: s.says(z.object({ chats: s.count() }), 'Chats whose tool calls are not counted by tool and file yet.'),
    series: z.array(seriesRow),
    outOfSeries: s.says(
      z.object({ messages: s.count() }),
      'Messages with a time before 2015 or after tomorrow: they are in the totals only.',
    ),
    byProject: z.array(z.extend(share, { id: z.nullable(s.projectId) })),
    byModel: s.says(z.array(share), "By the model in a message's own row. Most answers have none."),
    byTool: z.array(toolCount),
    byMode: z.array(z.object({ name: s.maybeText(), chats: s.count() })),
    byHour: s.says(z.array(s.count()), '24 counts.'),
    byWeekday: s.says(z.array(s.count()), '7 counts, Monday first.'),
    byHourOfWeek: s.says(z.array(z.array(s.count())), '7 lists of 24 counts, Monday first.'),
    topFiles: z.array(z.object({ path: s.text(), reads: s.count(), edits: s.count() })),
  }),
)
/**
 * Statistics over messages of threads, without orphans and drafts. Chats are counted as they are listed. Messages and
 * calls of subagents count too. An unknown number is null.
 */
export type Stats = s.Answer<typeof statsAnswer>
