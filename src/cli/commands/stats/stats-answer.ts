import { z } from 'zod'

const count = z.number()
const known = z.number().nullable()
const name = z.string().nullable()
const ends = { calls: count, completed: count, errors: count, rejected: count, cancelled: count, running: count }
const distribution = z.object({ count, median: known, p90: known, max: known })

/** What the command needs of the answer. */
export const statsAnswer = z.object({
  bucket: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  totals: z.object({
    projects: count,
    chats: count,
    subagents: count,
    messages: count,
    userMessages: count,
    toolCalls: count,
    linesAdded: known,
    linesRemoved: known,
    filesChanged: known,
    activeDays: count,
  }),
  known: z.object({ chats: count, linesAdded: count, linesRemoved: count, filesChanged: count }),
  undated: z.object({ messages: count }),
  approximate: z.object({ messages: count }),
  uncounted: z.object({ chats: count }),
  series: z.array(
    z.object({ start: z.string(), chats: count, messages: count, userMessages: count, toolCalls: count }),
  ),
  outOfSeries: z.object({ messages: count }),
  byProject: z.array(z.object({ name, chats: count, messages: count })),
  byModel: z.array(z.object({ name, chats: count, messages: count })),
  byTool: z.array(z.object({ name: z.string(), ...ends })),
  byMode: z.array(z.object({ name, chats: count })),
  byHour: z.array(count),
  byWeekday: z.array(count),
  topFiles: z.array(z.object({ path: z.string(), reads: count, edits: count })),
  calls: z.object({ ...ends, successRate: known, errorRate: known, rejectionRate: known }),
  largestChats: z.array(z.object({ id: z.string(), title: z.string(), messages: count, sizeBytes: count })),
  chatLength: distribution,
  chatDuration: distribution,
  longestStreak: z.object({ days: count, from: z.string(), to: z.string() }).nullable(),
})
export type StatsAnswer = z.infer<typeof statsAnswer>
