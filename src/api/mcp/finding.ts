import * as z from 'zod'
import {
  type Reader,
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
} from './tool.ts'
import type { SearchHit } from '../answers/search.ts'

/** Below a search stand suggestions and warnings too. */
const SEARCH_END_TOKENS = 530
/** The search counts the hits of a suggestion only so far. */
const COUNTED_MAX = 1000

export const searchChats = defineTool({
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
    const text = new BoundedText(SEARCH_END_TOKENS)
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

export const whyCode = defineTool({
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
