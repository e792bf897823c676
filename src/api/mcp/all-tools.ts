import * as z from 'zod'
import {
  type Reader,
  type Tool,
  boundedAnswer,
  BoundedText,
  listed,
  chatEntry,
  defineTool,
  idText,
  nextCall,
  only,
  pathArgument,
  plainSnippet,
  projectArgument,
  quoted,
  scope,
  scopeOf,
  shortLine,
  shortTime,
  endWithin,
  chatArgument,
  machineMark,
  plainText,
} from './tool.ts'
import type { SearchHit } from '../answers/search.ts'
import type { TokensAnswer, TokenSources } from '../answers/tokens.ts'
import { partLine, partText } from '../../shared/part.ts'
import { tokensAtMost } from '../../text/tokens/estimate-tokens.ts'
import type { Page } from '../answers/common.ts'
import type { Message } from '../answers/messages.ts'

/** The search counts the hits of a suggestion only so far. */
const COUNTED_MAX = 1000

const searchChats = defineTool({
  name: 'search_chats',
  title: 'Search past chats',
  description:
    'Searches all past Cursor chats on this machine: words, "phrases", -excluded, prefix*, fields such as in:tool or path:src/app.ts. Ask with a few keywords or a whole sentence. Below the hits stand the closest chats, which do not have all words.',
  parameters: z.object({
    query: z.string().describe('Words, or a question.'),
    role: z.enum(['user', 'assistant']).optional().describe('Only messages of this role.'),
    in: z
      .enum(['text', 'thinking', 'code', 'tool', 'attachment', 'plan', 'summary', 'title'])
      .optional()
      .describe('Only this kind of part.'),
    path: pathArgument,
    branch: z.string().optional().describe('Only chats that began on this git branch.'),
    ...scope,
    sort: z.enum(['relevance', 'newest', 'oldest']).default('relevance'),
    limit: z.number().int().min(1).max(30).default(10),
    include_active: z.boolean().default(false).describe('Also chats of the last ten minutes, such as this one.'),
  }),
  async answer(args, reader) {
    const { query, role, path, branch, sort, limit, offset, include_active: includesActive } = args
    const { items, total, totalIsExact, related, suggestions, warnings } = await reader.search({
      ...scopeOf(args),
      q: query,
      role: role && [role],
      in: args.in && [args.in],
      branch: only(branch),
      path: only(path),
      withoutActive: !includesActive,
      sort,
      limit,
      offset,
    })
    const text = new BoundedText()
    const count = totalIsExact ? String(total) : `more than ${total}`
    text.add(items.length === 0 ? `No message contains all of: ${shortLine(query, 200)}` : `${count} messages found.`)
    const next = offset + text.addAll(items.map((hit, at) => describeHit(hit, offset + at + 1)))
    if (related.length > 0 && text.add('\nClosest chats, not all words:')) {
      text.addAll(
        related.map((hit) => {
          const line = `- ${shortTime(hit.message.createdAt)} | chat ${idText(hit.chat.id)} message ${idText(hit.message.id)}`
          return hitEntry(line, hit, 200, `lacks: ${shortLine(hit.missing.join(', '), 120) || 'nothing'}`)
        }),
      )
    }
    const end = ['']
    for (const { chat, message } of items.slice(0, 1)) {
      end.push(`To read one: ${nextCall('read_messages', { chat: chat.id, around: message.id }).slice(6)}`)
    }
    if (next > offset && next < total) end.push(nextCall('search_chats', { ...args, offset: next }))
    if (!includesActive) end.push('Chats active in the last ten minutes are left out. include_active: true adds them.')
    for (const { text: other, reason, count: hits } of suggestions.slice(0, 3)) {
      const found = `${hits < COUNTED_MAX ? '' : 'at least '}${hits}`
      end.push(`Without result? ${reason} finds ${found}:`, quoted(shortLine(other, 100)))
    }
    for (const warning of warnings.slice(0, 3)) end.push('Note:', quoted(shortLine(warning, 200)))
    return text.end(...end)
  },
})

function describeHit(hit: SearchHit, number: number): string {
  const { message, chat, part, toolName } = hit
  const line = `${number}. ${shortTime(message.createdAt)} | ${message.role}, ${part}\n   chat ${idText(chat.id)} message ${idText(message.id)}`
  return hitEntry(line, hit, 400, ...(part === 'tool' && toolName !== null ? [`tool ${shortLine(toolName, 40)}`] : []))
}

const hitEntry = (line: string, { chat, project, snippet }: SearchHit, length: number, ...more: string[]): string =>
  `${chatEntry(line, { ...chat, project }, ...more)}\n${quoted(shortLine(plainSnippet(snippet), length))}`

export const listChats = defineTool({
  name: 'list_chats',
  title: 'List chats',
  description: 'Lists chats, newest first: of a project, of a time, or about a file.',
  parameters: z.object({
    path: pathArgument,
    ...scope,
    sort: z.enum(['newest', 'oldest', 'size', 'messages']).default('newest'),
    limit: z.number().int().min(1).max(50).default(20),
  }),
  async answer(args, reader) {
    const { path, sort, limit, offset } = args
    const query = { ...scopeOf(args), limit, offset }
    if (path === undefined) {
      const { items, total } = await reader.get('/api/chats', { query: { ...query, sort } })
      const entries = items.map((chat) =>
        chatEntry(listLine(chat.lastActivityAt, `${chat.messageCount} messages`, chat.id), chat),
      )
      return listed('list_chats', args, { head: headOf(total, 'chats', offset), entries, total })
    }
    if (sort !== 'newest' && sort !== 'oldest') throw new Error('With path, sort is newest or oldest.')
    const about = { ...query, q: '', path: [path], sort, group: 'chat' } as const
    const { items, total, totalIsExact } = await reader.search(about)
    const entries = items.map(({ chat, project, message, matchCount, matchCountIsExact }) => {
      const count = `${matchCountIsExact === false ? 'at least ' : ''}${matchCount ?? 1} messages about it`
      return chatEntry(listLine(message.createdAt, count, chat.id), { ...chat, project })
    })
    const head = headOf(total, totalIsExact ? 'chats' : 'chats or more', offset)
    return listed('list_chats', args, { head, entries, total })
  },
})

const headOf = (total: number, what: string, offset: number): string =>
  total === 0 ? `No ${what}.` : `${total} ${what}, from ${offset + 1}:`

const listLine = (at: string | null, count: string, id: string): string =>
  `- ${shortTime(at)} | ${count} | chat ${idText(id)}`

const WHY_CHATS_MAX = 5

const whyCode = defineTool({
  name: 'why_code',
  title: 'Why is this code so',
  description: 'Finds the chats that a file or a commit may have come from, at most five, with the evidence.',
  parameters: z.object({
    path: z.string().optional().describe('A file: its path or the end of it.'),
    commit: z.string().optional().describe('A commit: its hash, the first digits, or a name such as HEAD~2.'),
    project: projectArgument,
    repo: z.string().optional().describe('With commit: the folder of the repository, if it is not the project.'),
  }),
  async answer({ path, commit, project, repo }, reader) {
    if (commit !== undefined) return ofCommit(commit, project, repo ?? project, reader)
    if (path === undefined) throw new Error('Give path or commit.')
    return ofFile(path, project, reader)
  },
})

/** @param line the chat with its evidence */
const card = (line: string, title: string, quote: string): string =>
  [line, quoted(shortLine(title, 100)), quoted(shortLine(quote, 400))].join('\n')

async function ofFile(path: string, project: string | undefined, reader: Reader): Promise<string> {
  const end = path.replaceAll('\\', '/').replace(/^\.?\//, '')
  const about = { q: '', path: [path], project: only(project), sort: 'newest', group: 'chat' } as const
  const { items, total, totalIsExact } = await reader.search({ ...about, limit: WHY_CHATS_MAX * 4 })
  const chats = await Promise.all(
    items.map(async ({ chat, message, snippet }) => {
      const { files } = await reader.get('/api/chats/:id', { id: chat.id })
      const asked = files.filter(({ path: file }) => {
        const name = file.replaceAll('\\', '/').replace(/^\.?\//, '')
        // Of an absolute path a call may name only what is below the root.
        return name.endsWith(end) || (/^(?:\/|[a-z]:|\\)/i.test(path) && end.endsWith(`/${name}`))
      })
      const sum = (what: 'edits' | 'reads'): number => asked.reduce((all, file) => all + file[what], 0)
      return { chat, message, snippet, edits: sum('edits'), reads: sum('reads') }
    }),
  )
  // Who edited it comes before who read it, and the later before the earlier.
  const best = chats.toSorted((one, other) => Number(other.edits > 0) - Number(one.edits > 0)).slice(0, WHY_CHATS_MAX)
  const [first] = best
  const asked = shortLine(path, 200)
  if (first === undefined) {
    const next = nextCall('search_chats', { query: end.split('/').at(-1) ?? end, project })
    return boundedAnswer([`No chat is about ${asked}.`], next)
  }
  const cards = best.map(({ chat, message, snippet, edits, reads }) => {
    const evidence = `evidence: ${edits} edits, ${reads} reads of it; message ${idText(message.id)}`
    const line = `- ${shortTime(message.createdAt)} | chat ${idText(chat.id)}\n  ${evidence}`
    return card(line, chat.title, shortLine(plainSnippet(snippet), 200))
  })
  const head = `${totalIsExact ? '' : 'At least '}${total} chats are about ${asked}. The likeliest:`
  const around = { chat: first.chat.id, around: first.message.id, parts: ['text', 'tool'] }
  return boundedAnswer([head, ...cards], nextCall('read_messages', around))
}

async function ofCommit(
  commit: string,
  project: string | undefined,
  repo: string | undefined,
  reader: Reader,
): Promise<string> {
  // Of a repository that is not the project, only the chats of the project.
  const query = { commit, repo, project: repo === project ? undefined : only(project), limit: WHY_CHATS_MAX }
  const { items } = await reader.get('/api/chats', { query })
  const asked = shortLine(commit, 100)
  const head = items.length === 0 ? `No chat fits the commit ${asked}.` : `Chats that fit the commit ${asked}:`
  const cards = items.map(({ id, title, lastActivityAt, commit: match }) => {
    const line = `- ${shortTime(lastActivityAt)} | confidence ${match?.confidence ?? 'unknown'} | chat ${idText(id)}`
    return card(line, title, `evidence: ${JSON.stringify(match?.evidence ?? null)}`)
  })
  return boundedAnswer([head, ...cards], ...items.slice(0, 1).map(({ id }) => nextCall('get_chat', { chat: id })))
}

const ROWS_MAX = 60
/** The most that the route gives. */
const ROWS_ASKED = 10_000

const getUsage = defineTool({
  name: 'get_usage',
  title: 'Token usage',
  description:
    'Tokens by day, week, month, project, model or chat. Each number has its source: recorded by Cursor, imported from its dashboard, or estimated from the text. Sources are never added together.',
  parameters: z.object({
    group_by: z.enum(['day', 'week', 'month', 'project', 'model', 'chat']).default('month'),
    ...scope,
  }),
  async answer(args, reader) {
    const { group_by: groupBy, offset } = args
    const isOfTime = ['day', 'week', 'month'].includes(groupBy)
    const limit = isOfTime ? ROWS_ASKED : Math.min(ROWS_ASKED, offset + ROWS_MAX)
    const answer = await reader.get('/api/tokens', { query: { ...scopeOf(args), groupBy: [groupBy], limit } })
    const rows = isOfTime ? newestFirst(answer.rows) : answer.rows
    const { messages, recorded, estimated, unknown } = answer.coverage
    const order = isOfTime ? 'the newest first' : 'those with the most messages first'
    const head = [
      `Total: ${numbersOf(answer.totals)}`,
      `Of ${messages} messages ${recorded} are recorded, ${estimated} estimated, ${unknown} unknown.`,
      ...(rows.length > 0 ? [`${answer.rowsTotal} rows, ${order}, from ${offset + 1}:`] : []),
    ].join('\n')
    const entries = rows.slice(offset, offset + ROWS_MAX).map((row) => {
      // A date is ours. The name of a project, a model or a chat is not.
      const label = shortLine(row.label, 80)
      return isOfTime ? `- ${label}: ${numbersOf(row)}` : `- ${numbersOf(row)}\n${quoted(label)}`
    })
    return listed('get_usage', args, { head, entries, total: answer.rowsTotal })
  },
})

/** By the first date of each row. The row without a date is the last one. */
const newestFirst = (rows: TokensAnswer['rows']): TokensAnswer['rows'] =>
  rows.toSorted((one, other) => ((one.key ?? '') < (other.key ?? '') ? 1 : -1))

const pair = (input: number | null, output: number | null): string =>
  `${input ?? 'unknown'} in, ${output ?? 'unknown'} out`

function numbersOf({ recorded, imported, estimated, recordedCents }: TokenSources): string {
  const parts = [
    recorded && `recorded ${pair(recorded.input, recorded.output)}`,
    imported &&
      `imported ${pair(imported.input, imported.output)}${imported.cents === null ? '' : `, ${imported.cents} cents`}`,
    estimated && `estimated ${pair(estimated.input, estimated.output)}`,
    recordedCents !== null && `recorded cost ${recordedCents} cents`,
  ]
  return parts.filter(Boolean).join('; ') || 'unknown'
}

const listLosses = defineTool({
  name: 'list_losses',
  title: 'What Cursor dropped',
  description: 'Lists messages and chats that Cursor no longer has. They are kept here and can be read.',
  parameters: z.object(scope),
  async answer(args, reader) {
    const query = { ...scopeOf(args), offset: args.offset, limit: 50 }
    const { items, total } = await reader.get('/api/losses', { query })
    const head = total === 0 ? 'Cursor dropped nothing that was seen here.' : `${total} losses, latest first:`
    const entries = items.map((loss) => {
      const what = loss.messageId === null ? loss.kind : `${loss.kind} ${idText(loss.messageId)}`
      return chatEntry(`- ${shortTime(loss.at)} | ${what} | chat ${idText(loss.chatId)}`, loss)
    })
    return listed('list_losses', args, { head, entries, total })
  },
})

const FILES_MAX = 25
const TEXT_LENGTH = 1500

const getChat = defineTool({
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

const readMessages = defineTool({
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

function render({ from_char: fromChar, ...args }: Args, { items, total, offset }: Page<Message>): string {
  const text = new BoundedText()
  if (items.length === 0) {
    return total === 0 ? 'This chat has no messages.' : `The chat has ${total} messages: offset goes to ${total - 1}.`
  }
  text.add(`Chat ${idText(args.chat)}: messages ${offset + 1} to ${offset + items.length} of ${total}.`)
  for (const [at, message] of items.entries()) {
    const body = bodyOf(message, args.parts)
    const from = at === 0 ? Math.min(fromChar, body.length) : 0
    const head = `\n${messageHead(message, offset + at)}${from > 0 ? `\n(from character ${from})` : ''}`
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

function messageHead({ id, role, createdAt, parts, isOrphan, deletedInCursor }: Message, place: number): string {
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

export const tools: readonly Tool[] = [searchChats, readMessages, getChat, listChats, whyCode, getUsage, listLosses]
