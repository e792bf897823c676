import * as z from 'zod'
import type { McpSource } from '../source.ts'
import { BoundedText } from '../token-budget.ts'
import { defineTool, idText, nextCall, plainSnippet, quoted, shortLine, shortTime } from './tool.ts'
import type { SearchAnswer } from '../../answers/search.ts'
import type { ChatDetail, ChatsAnswer } from '../../answers/chats.ts'

const CHATS_MAX = 5
const END_TOKENS = 300

export const whyCode = defineTool({
  name: 'why_code',
  title: 'Why is this code so',
  description: 'Finds the chats that a file or a commit may have come from, at most five, with the evidence.',
  parameters: z.object({
    path: z.string().optional().describe('A file: its path or the end of it.'),
    commit: z.string().optional().describe('A commit: its hash, or the first digits.'),
    repo: z.string().optional().describe('With commit: the folder of the repository, which is a known project.'),
  }),
  async answer({ path, commit, repo }, source) {
    if (path === undefined && commit === undefined) throw new Error('Give path or commit.')
    return commit === undefined ? ofFile(path ?? '', source) : ofCommit(commit, repo, source)
  },
})

/** @param line the chat with its evidence */
const card = (line: string, title: string, quote: string): string =>
  [line, quoted(shortLine(title, 100)), quoted(shortLine(quote, 400))].join('\n')

async function ofFile(path: string, source: McpSource): Promise<string> {
  const end = path.replaceAll('\\', '/').replace(/^\.?\//, '')
  const query = { q: '', path, group: 'chat', sort: 'newest', limit: CHATS_MAX * 4 }
  const { items, total, totalIsExact } = (await source.get('/api/search', query)) as SearchAnswer
  const chats = await Promise.all(
    items.map(async ({ chat, message, snippet }) => {
      const { files } = (await source.get(`/api/chats/${encodeURIComponent(chat.id)}`)) as ChatDetail
      const asked = files.filter(({ path: file }) => file.replaceAll('\\', '/').endsWith(end))
      const sum = (what: 'edits' | 'reads'): number => asked.reduce((all, file) => all + file[what], 0)
      return { chat, message, snippet, edits: sum('edits'), reads: sum('reads') }
    }),
  )
  // Who edited it comes before who read it, and the later before the earlier.
  const best = chats.toSorted((one, other) => Number(other.edits > 0) - Number(one.edits > 0)).slice(0, CHATS_MAX)
  const text = new BoundedText(END_TOKENS)
  const [first] = best
  const asked = shortLine(path, 200)
  if (first === undefined) {
    text.add(`No chat is about ${asked}.`)
    return text.end(nextCall('search_chats', { query: path.split('/').at(-1) ?? path }))
  }
  text.add(`${totalIsExact ? '' : 'At least '}${total} chats are about ${asked}. The likeliest:`)
  for (const { chat, message, snippet, edits, reads } of best) {
    const evidence = `evidence: ${edits} edits, ${reads} reads of it; message ${idText(message.id)}`
    const line = `- ${shortTime(message.createdAt)} | chat ${idText(chat.id)}\n  ${evidence}`
    text.add(card(line, chat.title, shortLine(plainSnippet(snippet), 200)))
  }
  return text.end(nextCall('read_messages', { chat: first.chat.id, around: first.message.id, parts: ['text', 'tool'] }))
}

async function ofCommit(commit: string, repo: string | undefined, source: McpSource): Promise<string> {
  const { items } = (await source.get('/api/chats', { commit, repo, limit: CHATS_MAX })) as ChatsAnswer
  const asked = shortLine(commit, 100)
  const text = new BoundedText(END_TOKENS)
  text.add(items.length === 0 ? `No chat fits the commit ${asked}.` : `Chats that fit the commit ${asked}:`)
  for (const { id, title, lastActivityAt, commit: match } of items) {
    const line = `- ${shortTime(lastActivityAt)} | confidence ${match?.confidence ?? 'unknown'} | chat ${idText(id)}`
    text.add(card(line, title, `evidence: ${JSON.stringify(match?.evidence ?? null)}`))
  }
  return text.end(...items.slice(0, 1).map(({ id }) => nextCall('get_chat', { chat: id })))
}
