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
  projectArgument,
  quoted,
  quotedLine,
  shortLine,
  shortTime,
  toArgument,
} from './tool.ts'
import type { Chat, ChatDetail } from '../../answers/chats.ts'
import type { Page } from '../../answers/common.ts'
import type { Machine } from '../../answers/machines.ts'
import type { Message } from '../../answers/messages.ts'
import type { SearchAnswer } from '../../answers/search.ts'

const END_TOKENS = 300
const FILES_MAX = 25
const TEXT_LENGTH = 1500

export const getChat = defineTool({
  name: 'get_chat',
  title: 'Digest of one chat',
  description:
    'A digest of one chat: the first request, the last replies, files and tools. Read it before its messages.',
  parameters: z.object({ chat: z.string().describe('Id of the chat.') }),
  answer: async ({ chat }, source) => describeChat(chat, source),
})

/** Also a resource of its own. */
export async function describeChat(id: string, source: McpSource): Promise<string> {
  const path = `/api/chats/${encodeURIComponent(id)}`
  const chat = (await source.get(path)) as ChatDetail
  const first = (await source.get(`${path}/messages`, { limit: 5 })) as Page<Message>
  const last = (await source.get(`${path}/messages`, {
    limit: 6,
    offset: Math.max(0, first.total - 6),
  })) as Page<Message>
  const text = new BoundedText(END_TOKENS)
  for (const line of factsOf(chat)) text.add(line)
  const request = first.items.find(({ role }) => role === 'user')
  if (request !== undefined) text.add(`\nFirst request:\n${quoted(spoken(request))}`)
  const replies = last.items.filter((message) => message.role === 'assistant' && spoken(message) !== '').slice(-2)
  for (const reply of replies) text.add(`\nLast reply (${shortTime(reply.createdAt)}):\n${quoted(spoken(reply))}`)
  if (chat.files.length > 0) text.add(`\nFiles (${chat.files.length}):`)
  for (const { path: file, reads, edits, attached } of chat.files.slice(0, FILES_MAX)) {
    text.add(`> ${reads} read, ${edits} edited${attached > 0 ? `, ${attached} attached` : ''}: ${shortLine(file, 160)}`)
  }
  if (chat.toolCounts.length > 0) {
    const tools = chat.toolCounts.map(({ name, calls }) => `${name} ${calls}`).join(', ')
    text.add(`\nTools:\n${quoted(shortLine(tools, 400))}`)
  }
  for (const child of chat.children.slice(0, 10)) {
    text.add(`Subagent: chat ${idText(child.id)}\n${quoted(shortLine(child.title, 80))}`)
  }
  const cut = chat.files.length > FILES_MAX ? [`(${chat.files.length - FILES_MAX} more files)`] : []
  return text.end(...cut, nextCall('read_messages', { chat: id, offset: 0 }))
}

function factsOf(chat: ChatDetail): string[] {
  const marks = [
    ...(chat.isArchived ? ['archived'] : []),
    ...(chat.isSubagent ? ['subagent'] : []),
    ...(chat.deletedInCursor ? ['deleted in Cursor, kept here'] : []),
  ]
  return [
    `chat ${idText(chat.id)} | ${shortTime(chat.createdAt)} to ${shortTime(chat.lastActivityAt)}`,
    `${chat.messageCount} messages, ${chat.toolCallCount} tool calls${marks.length > 0 ? ` | ${marks.join(', ')}` : ''}`,
    quoted(shortLine(chat.title, 200)),
    quotedLine(
      `project ${shortLine(chat.project?.name ?? 'unknown', 80)}`,
      `model ${shortLine(chat.model ?? 'unknown', 80)}`,
      `mode ${shortLine(chat.mode ?? 'unknown', 80)}`,
      ...machineMark(chat.machine),
    ),
  ]
}

function spoken({ parts }: Message): string {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
  return text.length <= TEXT_LENGTH ? text : `${text.slice(0, TEXT_LENGTH)}… (${text.length} characters)`
}

export const listChats = defineTool({
  name: 'list_chats',
  title: 'List chats',
  description: 'Lists chats, newest first: of a project, of a time, or about a file.',
  parameters: z.object({
    project: projectArgument,
    machine: machineArgument,
    from: fromArgument,
    to: toArgument,
    path: z.string().optional().describe('Only chats about this file: a path or its end.'),
    sort: z.enum(['newest', 'oldest', 'size', 'messages']).default('newest'),
    limit: z.number().int().min(1).max(50).default(20),
    offset: offsetArgument,
  }),
  async answer(args, source) {
    const { path, project, machine, from, to, sort, limit, offset } = args
    if (path === undefined) {
      const { items, total } = (await source.get('/api/chats', {
        project,
        machine,
        from,
        to,
        sort,
        limit,
        offset,
      })) as Page<Chat>
      const lines = items.map(({ id, title, project: of, machine: by, lastActivityAt, messageCount }) =>
        lineOf({
          id,
          title,
          project: of?.name ?? null,
          at: lastActivityAt,
          machine: by,
          more: `${messageCount} messages`,
        }),
      )
      return listed('chats', lines, total, args)
    }
    if (sort !== 'newest' && sort !== 'oldest') throw new Error('With path, sort is newest or oldest.')
    const query = { q: '', path, project, machine, from, to, sort, limit, offset, group: 'chat' }
    const { items, total, totalIsExact } = (await source.get('/api/search', query)) as SearchAnswer
    const lines = items.map(({ chat, project: of, message, matchCount, matchCountIsExact }) =>
      lineOf({
        id: chat.id,
        title: chat.title,
        project: of?.name ?? null,
        at: message.createdAt,
        machine: chat.machine,
        more: `${matchCountIsExact === false ? 'at least ' : ''}${matchCount ?? 1} messages about it`,
      }),
    )
    return listed(totalIsExact ? 'chats' : 'chats or more', lines, total, args)
  },
})

interface Line {
  readonly id: string
  readonly title: string
  readonly project: string | null
  readonly at: string | null
  readonly machine: Machine | null
  readonly more: string
}

const lineOf = ({ id, title, project, at, machine, more }: Line): string =>
  [
    `- ${shortTime(at)} | ${more} | chat ${idText(id)}`,
    quotedLine(shortLine(title, 100), shortLine(project ?? 'no project', 60), ...machineMark(machine)),
  ].join('\n')

function listed(
  what: string,
  lines: readonly string[],
  total: number,
  args: Readonly<Record<string, unknown>>,
): string {
  const text = new BoundedText(END_TOKENS)
  const offset = Number(args['offset'] ?? 0)
  text.add(total === 0 ? `No ${what}.` : `${total} ${what}, from ${offset + 1}:`)
  let shown = 0
  for (const line of lines) {
    if (!text.add(line)) break
    shown += 1
  }
  const next = offset + shown
  return text.end(...(next < total && shown > 0 ? [nextCall('list_chats', { ...args, offset: next })] : []))
}
