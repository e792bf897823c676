import * as z from 'zod'
import type { Part } from '../../../model/part.ts'
import { BoundedText, endWithin, estimateTokens } from '../token-budget.ts'
import { defineTool, idText, nextCall, offsetArgument, plainText, quoted, shortTime } from './tool.ts'
import type { Message } from '../../answers/messages.ts'

const PART_KINDS = ['text', 'thinking', 'code', 'tool', 'attachment', 'todo', 'error', 'plan', 'summary'] as const
type PartKind = (typeof PART_KINDS)[number]
const END_TOKENS = 350
const PAGE = 50

export const readMessages = defineTool({
  name: 'read_messages',
  title: 'Read messages of a chat',
  description:
    'Reads messages of one chat, in order. Give "around" (a message id, for example from search_chats) or "offset". Long answers are cut, and the last line gives the exact next call.',
  parameters: z.object({
    chat: z.string().describe('Id of the chat.'),
    around: z.string().optional().describe('Id of a message to read around.'),
    offset: offsetArgument.optional().describe('Position of the first message to read.'),
    before: z.number().int().min(0).max(50).default(2).describe('With around: how many messages before it.'),
    after: z.number().int().min(0).max(50).default(6).describe('With around: how many messages after it.'),
    parts: z.array(z.enum(PART_KINDS)).default(['text']).describe('Which kinds of parts to show.'),
    max_chars: z.number().int().min(100).optional().describe('Cuts each message after so many characters.'),
    from_char: z.number().int().min(0).default(0).describe('Where to continue within the first message.'),
  }),
  async answer(args, source) {
    const path = `/api/chats/${encodeURIComponent(args.chat)}/messages`
    const page = await readPage(args, (query) => source.get(path, query) as Promise<MessagePage>)
    return render(args, page)
  },
})

interface MessagePage {
  readonly items: readonly Message[]
  readonly total: number
  readonly offset: number
}

interface Args {
  readonly chat: string
  readonly around?: string | undefined
  readonly offset?: number | undefined
  readonly before: number
  readonly after: number
  readonly parts: readonly PartKind[]
  readonly max_chars?: number | undefined
  readonly from_char: number
}

type Ask = (query: Readonly<Record<string, string | number | boolean>>) => Promise<MessagePage>

/** The messages that are asked for, of which all may not fit. */
async function readPage({ around, offset, before, after }: Args, ask: Ask): Promise<MessagePage> {
  if (around === undefined) return ask({ limit: PAGE, offset: offset ?? 0 })
  const found = await ask({ limit: 1, around, includeOrphans: true })
  // The page of one message begins with it.
  const at = found.offset
  const first = Math.max(0, at - before)
  const page = await ask({ limit: Math.min(200, at - first + 1 + after), offset: first, includeOrphans: true })
  return page
}

function render(args: Args, { items, total, offset }: MessagePage): string {
  const text = new BoundedText(END_TOKENS)
  if (items.length === 0) {
    return text.end(
      total === 0 ? 'This chat has no messages.' : `The chat has ${total} messages: offset goes to ${total - 1}.`,
    )
  }
  text.add(`Chat ${idText(args.chat)}: messages ${offset + 1} to ${offset + items.length} of ${total}.`)
  for (const [at, message] of items.entries()) {
    const place = offset + at
    const head = headOf(message, place)
    const body = bodyOf(message, args.parts)
    const from = at === 0 ? Math.min(args.from_char, body.length) : 0
    const end = args.max_chars === undefined ? body.length : Math.min(body.length, from + args.max_chars)
    const start = [head, ...(from > 0 ? [`(from character ${from})`] : [])]
    const entry = [...start, body === '' ? NOTHING : quoted(body.slice(from, end))].join('\n')
    const isCut = end < body.length
    const cutLine = isCut ? [`(cut at character ${end} of ${body.length})`] : []
    if (text.add(['', entry, ...cutLine].join('\n'))) {
      if (isCut && items.length === 1) return text.end(continued(args, message, end))
      continue
    }
    // The first one is shown in part, so that a message of any length can be read to its end.
    if (at > 0) return text.end('', nextPage(args, place))
    const room = text.left - estimateTokens(head) - 20
    const until = Math.max(from + 1, Math.min(end, endWithin(body, from, room)))
    text.add(['', ...start, quoted(body.slice(from, until))].join('\n'))
    return text.end(`(cut at character ${until} of ${body.length})`, continued(args, message, until))
  }
  const next = offset + items.length
  if (next >= total) return text.end('', 'This is the end of the chat.')
  return text.end('', nextPage(args, next))
}

const nextPage = ({ chat, parts, max_chars }: Args, offset: number): string =>
  nextCall('read_messages', { chat, offset, parts, max_chars })

const continued = ({ chat, parts, max_chars }: Args, { id }: Message, from: number): string =>
  nextCall('read_messages', { chat, around: id, before: 0, after: 0, parts, max_chars, from_char: from })

function headOf({ id, role, createdAt, parts, isOrphan, deletedInCursor }: Message, place: number): string {
  const kinds = new Map<string, number>()
  for (const { kind } of parts) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const has = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')
  const marks = [...(isOrphan ? ['orphan'] : []), ...(deletedInCursor ? ['deleted in Cursor'] : [])]
  return `[${place + 1}] ${role} | ${shortTime(createdAt)} | message ${idText(id)} | ${[has || 'empty', ...marks].join(', ')}`
}

const NOTHING = '(no part of the kinds asked for)'

/** Made plain before it is cut, so that a place in it means the same at the next call. */
function bodyOf({ parts }: Message, kinds: readonly PartKind[]): string {
  const shown = parts.filter(({ kind }) => kinds.includes(kind)).map(textOf)
  return plainText(shown.join('\n\n'))
}

function textOf(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'thinking':
      return `<thinking>\n${part.text}\n</thinking>`
    case 'error':
      return `Error: ${part.text}`
    case 'code':
      return `\`\`\`${part.language ?? ''}${part.path === null ? '' : ` ${part.path}`}\n${part.text}\n\`\`\``
    case 'attachment':
      return `Attachment ${part.path}${part.text === null ? '' : `\n${part.text}`}`
    case 'plan':
      return `<plan${part.path === null ? '' : ` path="${part.path}"`}>\n${part.text}\n</plan>`
    case 'summary':
      return `<summary>\n${part.text}\n</summary>`
    case 'todo':
      return part.items.map(({ content, status }) => `- [${status ?? ' '}] ${content}`).join('\n')
    default: {
      const output = part.error ?? jsonText(part.output)
      return [
        `Tool ${part.name} (${part.status}): ${jsonText(part.input)}`,
        ...(output === '' ? [] : [`-> ${output}`]),
      ].join('\n')
    }
  }
}

const jsonText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
