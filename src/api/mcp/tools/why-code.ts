import * as z from 'zod'
import type { McpSource } from '../source.ts'
import { BoundedText } from '../token-budget.ts'
import { defineTool, idText, nextCall, plainSnippet, quoted, shortLine, shortTime } from './tool.ts'
import type { SearchAnswer } from '../../http/schemas/search.ts'
import type { ChatDetail, ChatsAnswer } from '../../http/schemas/chats.ts'

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

const edits = (files: ChatDetail['files']): number => files.reduce((sum, { edits: count }) => sum + count, 0)

async function ofFile(path: string, source: McpSource): Promise<string> {
  const query = { q: '', path, group: 'chat', sort: 'newest', limit: CHATS_MAX * 4 }
  const { items, total, totalIsExact } = (await source.get('/api/search', query)) as SearchAnswer
  const chats = await Promise.all(
    items.map(async (hit) => ({
      hit,
      files: ((await source.get(`/api/chats/${encodeURIComponent(hit.chat.id)}`)) as ChatDetail).files.filter(
        ({ path: file }) => file === path || file.replaceAll('\\', '/').endsWith(path.replace(/^\.?\//, '')),
      ),
    })),
  )
  // Who edited it comes before who read it, and the later before the earlier.
  const best = chats
    .toSorted((one, other) => Number(edits(other.files) > 0) - Number(edits(one.files) > 0))
    .slice(0, CHATS_MAX)
  const text = new BoundedText(END_TOKENS)
  const asked = shortLine(path, 200)
  text.add(
    best.length === 0
      ? `No chat is about ${asked}.`
      : `${totalIsExact ? '' : 'At least '}${total} chats are about ${asked}. The likeliest:`,
  )
  for (const { hit, files } of best) {
    const reads = files.reduce((sum, { reads: count }) => sum + count, 0)
    text.add(
      [
        `- ${shortTime(hit.message.createdAt)} | chat ${idText(hit.chat.id)}`,
        `  evidence: ${edits(files)} edits, ${reads} reads of it; message ${idText(hit.message.id)}`,
        quoted(shortLine(hit.chat.title, 100)),
        quoted(shortLine(plainSnippet(hit.snippet), 200)),
      ].join('\n'),
    )
  }
  const [first] = best
  if (first === undefined) return text.end(nextCall('search_chats', { query: path.split('/').at(-1) ?? path }))
  return text.end(
    nextCall('read_messages', { chat: first.hit.chat.id, around: first.hit.message.id, parts: ['text', 'tool'] }),
  )
}

async function ofCommit(commit: string, repo: string | undefined, source: McpSource): Promise<string> {
  const answer = (await source.get('/api/chats', { commit, repo, limit: CHATS_MAX })) as ChatsAnswer
  const asked = shortLine(commit, 100)
  const text = new BoundedText(END_TOKENS)
  text.add(answer.items.length === 0 ? `No chat fits the commit ${asked}.` : `Chats that fit the commit ${asked}:`)
  for (const { id, title, lastActivityAt, commit: match } of answer.items) {
    text.add(
      [
        `- ${shortTime(lastActivityAt)} | confidence ${match?.confidence ?? 'unknown'} | chat ${idText(id)}`,
        quoted(shortLine(title, 100)),
        quoted(shortLine(`evidence: ${JSON.stringify(match?.evidence ?? null)}`, 400)),
      ].join('\n'),
    )
  }
  const [first] = answer.items
  return text.end(...(first === undefined ? [] : [nextCall('get_chat', { chat: first.id })]))
}
