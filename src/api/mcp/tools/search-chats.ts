import * as z from 'zod'
import type { McpSource } from '../source.ts'
import { BoundedText } from '../token-budget.ts'
import {
  defineTool,
  fromArgument,
  idText,
  machineArgument,
  machineMark,
  nextCall,
  offsetArgument,
  plainSnippet,
  projectArgument,
  quoted,
  quotedLine,
  shortLine,
  shortTime,
  toArgument,
} from './tool.ts'
import type { RelatedChat, SearchAnswer, SearchHit } from '../../answers/search.ts'

/** A chat that was active so recently may be the one that asks. */
const ACTIVE_MS = 10 * 60_000
const END_TOKENS = 530
const SNIPPET_LENGTH = 400
const LIMIT_MAX = 30
const COUNTED_MAX = 1000

export const searchChats = defineTool({
  name: 'search_chats',
  title: 'Search past chats',
  description:
    'Searches all past Cursor chats on this machine: words, "phrases", -excluded, prefix*, fields such as in:tool or path:src/app.ts. Ask with a few keywords or a whole sentence. Below the hits stand the closest chats, which do not have all words.',
  parameters: z.object({
    query: z.string().describe('Words, or a question.'),
    project: projectArgument,
    role: z.enum(['user', 'assistant']).optional().describe('Only messages of this role.'),
    in: z
      .enum(['text', 'thinking', 'code', 'tool', 'attachment', 'plan', 'summary', 'title'])
      .optional()
      .describe('Only this kind of part.'),
    path: z.string().optional().describe('Only messages about this file: a path or its end.'),
    machine: machineArgument,
    from: fromArgument,
    to: toArgument,
    sort: z.enum(['relevance', 'newest', 'oldest']).default('relevance'),
    limit: z.number().int().min(1).max(LIMIT_MAX).default(10),
    offset: offsetArgument,
    include_active: z.boolean().default(false).describe('Also chats of the last ten minutes, such as this one.'),
  }),
  async answer(args, source) {
    const { query, limit, offset, include_active: includesActive, ...filters } = args
    const active = includesActive ? new Set<string>() : await activeChats(source)
    // Some of the hits may be left out.
    const asked = Math.min(200, limit + (active.size > 0 ? LIMIT_MAX : 0))
    const answer = (await source.get('/api/search', { q: query, ...filters, limit: asked, offset })) as SearchAnswer
    return render(args, answer, active)
  },
})

async function activeChats(source: McpSource): Promise<ReadonlySet<string>> {
  const from = new Date(source.now() - ACTIVE_MS).toISOString()
  const { items } = (await source.get('/api/chats', { from, subagents: true, includeEmpty: true, limit: 50 })) as {
    items: readonly { readonly id: string }[]
  }
  return new Set(items.map(({ id }) => id))
}

type Args = Readonly<Record<string, unknown>> & {
  readonly query: string
  readonly limit: number
  readonly offset: number
}

function render(args: Args, answer: SearchAnswer, active: ReadonlySet<string>): string {
  const text = new BoundedText(END_TOKENS)
  const kept = answer.items.filter(({ chat }) => !active.has(chat.id))
  const hits = kept.slice(0, args.limit)
  const total = answer.totalIsExact ? String(answer.total) : `more than ${answer.total}`
  text.add(hits.length === 0 ? `No message contains all of: ${shortLine(args.query, 200)}` : `${total} messages found.`)
  let shown = 0
  for (const hit of hits) {
    if (!text.add(describeHit(hit, args.offset + shown + 1))) break
    shown += 1
  }
  const related = answer.related.filter(({ chat }) => !active.has(chat.id))
  if (related.length > 0 && text.add('\nClosest chats, not all words:')) {
    for (const chat of related) if (!text.add(describeRelated(chat))) break
  }
  return text.end(...endOf(args, answer, { shown, active, hits: hits.length, kept }))
}

interface Shown {
  readonly shown: number
  readonly hits: number
  readonly active: ReadonlySet<string>
  readonly kept: readonly SearchHit[]
}

function endOf(args: Args, answer: SearchAnswer, { shown, hits, active, kept }: Shown): string[] {
  const lines: string[] = ['']
  const [first] = kept
  if (first !== undefined) {
    lines.push(`To read one: ${nextCall('read_messages', { chat: first.chat.id, around: first.message.id }).slice(6)}`)
  }
  const leftOut = answer.items.length - kept.length
  // Hits that were left out count in the offset of the next page.
  const next =
    args.offset + shown + (shown === hits && hits === kept.length ? leftOut : countUntil(answer, active, shown))
  if (next < answer.total) lines.push(nextCall('search_chats', { ...args, offset: next }))
  if (active.size > 0) {
    lines.push('Chats active in the last ten minutes are left out. include_active: true adds them.')
  }
  for (const { text, reason, count } of answer.suggestions.slice(0, 3)) {
    // A suggestion's hits are counted only so far.
    lines.push(
      `Without result? ${reason} finds ${count < COUNTED_MAX ? '' : 'at least '}${count}:`,
      quoted(shortLine(text, 100)),
    )
  }
  for (const warning of answer.warnings.slice(0, 3)) lines.push('Note:', quoted(shortLine(warning, 200)))
  return lines
}

/** How many hits of the active chats stand before the last one that is shown. */
function countUntil({ items }: SearchAnswer, active: ReadonlySet<string>, shown: number): number {
  let [left, skipped] = [shown, 0]
  for (const { chat } of items) {
    if (left === 0) break
    if (active.has(chat.id)) skipped += 1
    else left -= 1
  }
  return skipped
}

function describeHit({ message, chat, project, part, toolName, snippet }: SearchHit, number: number): string {
  const tool = part === 'tool' && toolName !== null ? [`tool ${shortLine(toolName, 40)}`] : []
  return [
    `${number}. ${shortTime(message.createdAt)} | ${message.role}, ${part}`,
    `   chat ${idText(chat.id)} message ${idText(message.id)}`,
    quotedLine(
      shortLine(chat.title, 100),
      shortLine(project?.name ?? 'no project', 60),
      ...tool,
      ...machineMark(chat.machine),
    ),
    quoted(shortLine(plainSnippet(snippet), SNIPPET_LENGTH)),
  ].join('\n')
}

function describeRelated({ message, chat, project, missing, snippet }: RelatedChat): string {
  return [
    `- ${shortTime(message.createdAt)} | chat ${idText(chat.id)} message ${idText(message.id)}`,
    quotedLine(
      `lacks: ${shortLine(missing.join(', '), 120) || 'nothing'}`,
      shortLine(chat.title, 100),
      shortLine(project?.name ?? 'no project', 60),
      ...machineMark(chat.machine),
    ),
    quoted(shortLine(plainSnippet(snippet), 200)),
  ].join('\n')
}
