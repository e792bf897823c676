import * as z from 'zod'
import { partLine, partText } from '../../shared/part.ts'
import {
  type Reader,
  boundedAnswer,
  BoundedText,
  endWithin,
  chatArgument,
  defineTool,
  idText,
  machineMark,
  nextCall,
  plainText,
  quoted,
  shortLine,
  shortTime,
} from './tool.ts'
import { tokensAtMost } from '../../text/tokens/estimate-tokens.ts'
import type { Message } from '../answers/messages.ts'

const END_TOKENS = 350
const FILES_MAX = 25
const TEXT_LENGTH = 1500

export const getChat = defineTool({
  name: 'get_chat',
  title: 'Digest of one chat',
  description:
    'A digest of one chat: the first request, the last replies, files and tools. Read it before its messages.',
  parameters: z.object({ chat: chatArgument }),
  answer: ({ chat }, reader) => describeChat(chat, reader),
})

/** Also a resource of its own. */
export async function describeChat(given: string, reader: Reader): Promise<string> {
  const id = await reader.chatId(given)
  const chat = await reader.get('/api/chats/:id', { id })
  const first = await reader.get('/api/chats/:id/messages', { id, query: { limit: 5 } })
  const query = { limit: 6, offset: Math.max(0, first.total - 6) }
  const last = await reader.get('/api/chats/:id/messages', { id, query })
  const marks = [
    chat.isArchived && 'archived',
    chat.isSubagent && 'subagent',
    chat.deletedInCursor && 'deleted in Cursor, kept here',
  ].filter(Boolean)
  const place = [
    `project ${shortLine(chat.project?.name ?? 'unknown', 80)}`,
    `model ${shortLine(chat.model ?? 'unknown', 80)}`,
    `mode ${shortLine(chat.mode ?? 'unknown', 80)}`,
    ...machineMark(chat.machine),
  ]
  const request = first.items.find(({ role }) => role === 'user')
  const replies = last.items.filter((message) => message.role === 'assistant' && spoken(message) !== '').slice(-2)
  const calls = chat.toolCounts.map((tool) => `${tool.name} ${tool.calls}`).join(', ')
  const { files } = chat
  const cut = files.length > FILES_MAX ? [`(${files.length - FILES_MAX} more files)`] : []
  const texts = [
    `chat ${idText(id)} | ${shortTime(chat.createdAt)} to ${shortTime(chat.lastActivityAt)}`,
    `${chat.messageCount} messages, ${chat.toolCallCount} tool calls${marks.length > 0 ? ` | ${marks.join(', ')}` : ''}`,
    quoted(shortLine(chat.title, 200)),
    quoted(place.join(' | ')),
    ...(request === undefined ? [] : [`\nFirst request:\n${quoted(spoken(request))}`]),
    ...replies.map((reply) => `\nLast reply (${shortTime(reply.createdAt)}):\n${quoted(spoken(reply))}`),
    ...(files.length > 0 ? [`\nFiles (${files.length}):`] : []),
    ...files.slice(0, FILES_MAX).map(({ path, reads, edits, attached }) => {
      return `> ${reads} read, ${edits} edited${attached > 0 ? `, ${attached} attached` : ''}: ${shortLine(path, 160)}`
    }),
    ...(calls === '' ? [] : [`\nTools:\n${quoted(shortLine(calls, 400))}`]),
    ...chat.children.slice(0, 10).map((each) => {
      return `Subagent: chat ${idText(each.id)}\n${quoted(shortLine(each.title, 80))}`
    }),
  ]
  return boundedAnswer(texts, ...cut, nextCall('read_messages', { chat: id, offset: 0 }))
}

function spoken({ parts }: Message): string {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
  return text.length <= TEXT_LENGTH ? text : `${text.slice(0, TEXT_LENGTH)}… (${text.length} characters)`
}

const PART_KINDS = ['text', 'thinking', 'code', 'tool', 'attachment', 'todo', 'error', 'plan', 'summary'] as const
const PAGE = 50

export const readMessages = defineTool({
  name: 'read_messages',
  title: 'Read messages of a chat',
  description:
    'Reads messages of one chat, in order. Give "around" (a message id, for example from search_chats) or "offset". Long answers are cut, and the last line gives the exact next call.',
  parameters: z.object({
    chat: chatArgument,
    around: z.string().optional().describe('Id of a message to read around.'),
    offset: z.number().int().min(0).default(0).describe('How many messages to skip.'),
    before: z.number().int().min(0).max(50).default(2).describe('With around: how many messages before it.'),
    after: z.number().int().min(0).max(50).default(6).describe('With around: how many messages after it.'),
    parts: z.array(z.enum(PART_KINDS)).default(['text']).describe('Which kinds of parts to show.'),
    max_chars: z.number().int().min(100).optional().describe('Cuts each message after so many characters.'),
    from_char: z.number().int().min(0).default(0).describe('Where to continue within the first message.'),
  }),
  async answer({ around, offset, before, after, ...args }, reader) {
    const chat = await reader.chatId(args.chat)
    // All messages count: also those that the chat lists no more, which are the last.
    const ask = (query: { readonly limit: number; readonly offset?: number; readonly around?: string }) =>
      reader.get('/api/chats/:id/messages', { id: chat, query: { ...query, includeOrphans: true } })
    if (around === undefined) return render({ ...args, chat }, await ask({ limit: PAGE, offset }))
    // The page of one message begins with it.
    const at = (await ask({ limit: 1, around })).offset
    const first = Math.max(0, at - before)
    return render({ ...args, chat }, await ask({ limit: at - first + 1 + after, offset: first }))
  },
})

interface Args {
  readonly chat: string
  readonly parts: readonly string[]
  readonly max_chars?: number | undefined
  readonly from_char: number
}

interface MessagePage {
  readonly items: readonly Message[]
  readonly total: number
  readonly offset: number
}

function render({ from_char: fromChar, ...args }: Args, { items, total, offset }: MessagePage): string {
  const text = new BoundedText(END_TOKENS)
  if (items.length === 0) {
    return total === 0 ? 'This chat has no messages.' : `The chat has ${total} messages: offset goes to ${total - 1}.`
  }
  text.add(`Chat ${idText(args.chat)}: messages ${offset + 1} to ${offset + items.length} of ${total}.`)
  for (const [at, message] of items.entries()) {
    const body = bodyOf(message, args.parts)
    const from = at === 0 ? Math.min(fromChar, body.length) : 0
    const head = `\n${headOf(message, offset + at)}${from > 0 ? `\n(from character ${from})` : ''}`
    const entry = (until: number): string => {
      const cut = until < body.length ? `\n(cut at character ${until} of ${body.length})` : ''
      return `${head}\n${body === '' ? instead(message) : quoted(body.slice(from, until))}${cut}`
    }
    const rest = (until: number): string =>
      nextCall('read_messages', { ...args, around: message.id, before: 0, after: 0, from_char: until })
    const end = Math.min(body.length, from + (args.max_chars ?? body.length))
    if (text.add(entry(end))) {
      if (end < body.length && items.length === 1) return text.end(rest(end))
      continue
    }
    if (at > 0) return text.end('', nextCall('read_messages', { ...args, offset: offset + at }))
    // The first one is shown in part, so that a message of any length can be read to its end.
    const room = text.left - tokensAtMost(head) - 20
    const until = Math.max(from + 1, Math.min(end, endWithin(body, from, room)))
    return text.end(entry(until), rest(until))
  }
  const next = offset + items.length
  if (next >= total) return text.end('', 'This is the end of the chat.')
  return text.end('', nextCall('read_messages', { ...args, offset: next }))
}

function headOf({ id, role, createdAt, parts, isOrphan, deletedInCursor }: Message, place: number): string {
  const kinds = PART_KINDS.map((kind) => [parts.filter((part) => part.kind === kind).length, kind] as const)
  const has = kinds.flatMap(([count, kind]) => (count > 0 ? [`${count} ${kind}`] : []))
  const marks = [...(isOrphan ? ['orphan'] : []), ...(deletedInCursor ? ['deleted in Cursor'] : [])]
  const facts = [...(has.length > 0 ? has : ['empty']), ...marks].join(', ')
  return `[${place + 1}] ${role} | ${shortTime(createdAt)} | message ${idText(id)} | ${facts}`
}

/** Made plain before it is cut, so that a place in it means the same at the next call. */
const bodyOf = ({ parts }: Message, kinds: readonly string[]): string =>
  plainText(parts.flatMap((part) => (kinds.includes(part.kind) ? [partText(part)] : [])).join('\n\n'))

/** What a message has instead of the kinds that are asked for: a line for each of its first parts. */
const instead = ({ parts }: Message): string =>
  [
    '(no part of the kinds asked for)',
    ...parts.slice(0, 5).map((part) => quoted(shortLine(partLine(part), 120))),
    ...(parts.length > 5 ? [`(and ${parts.length - 5} more)`] : []),
  ].join('\n')
