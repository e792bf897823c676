import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import { createRandom } from '../../../bench/words.ts'
import { called, Searched, type SaidChat, type SaidMessage } from './searched.ts'

/** A chat as the API tells it. */
export interface PlainChat extends Pick<
  Chat,
  'id' | 'title' | 'summary' | 'mode' | 'model' | 'branch' | 'isArchived' | 'isSubagent'
> {
  readonly project: string | null
  readonly isLive: boolean
}

export interface PlainMessage extends Pick<Message, 'id' | 'role' | 'model' | 'isOrphan' | 'parts'> {
  readonly chat: PlainChat
  readonly timeMs: number | null
  readonly isLive: boolean
}

/** All messages, in the order of each thread. A search finds the same as a scan of them. */
export interface PlainCorpus {
  readonly chats: readonly PlainChat[]
  readonly messages: readonly PlainMessage[]
  readonly searched: Searched
}

export const vocabulary = [
  'apple',
  'getUserName',
  'user',
  'name',
  'JavaScript',
  'retry',
  'queue',
  'pineapple',
  '数据库',
  'kw1x2',
  'OAuthToken',
  'oauth_token',
  'aa91fe77d0',
]
export const toolNames = ['edit_file', 'edit_file_v2', 'grep', 'Write']
export const modelNames = ['gpt-5', 'gpt-5-mini', 'claude']
export const paths = ['src/api/search.ts', 'src/app.ts', 'docs/readme.md']
export const branches = ['main', 'fix/login', null]
export const DAY_MS = 86_400_000
/** The present time of the searches. */
export const NOW_MS = Date.UTC(2026, 0, 20, 12)

/** About 200 messages with few different words, so that most queries find some of them. Some are deleted in Cursor. */
export async function plainCorpus(): Promise<PlainCorpus> {
  const planned = planChats()
  const searched = await Searched.of(planned)
  const store = searched.world.home.global()
  const [first, second] = planned
  for (const chat of [first, second]) store.deleteChat(chat?.id ?? '')
  for (const chat of planned.slice(2)) store.delete(`bubbleId:${chat.id}:${chat.messages[3]?.id}`)
  await searched.world.sync(true)
  return { ...(await readBack(searched)), searched }
}

function planChats(): SaidChat[] {
  const random = createRandom(11)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const chance = (share: number): boolean => random() < share
  const sentence = (): string => Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(vocabulary)).join(' ')
  const kinds: readonly (() => object | undefined)[] = [
    () => ({ thinking: { text: sentence() } }),
    () => ({ codeBlocks: [{ content: sentence(), languageId: 'ts', uri: { path: `/w/${pick(paths)}` } }] }),
    () => {
      const params = { what: sentence(), ...(chance(0.5) ? { target_file: pick(paths) } : {}) }
      return called(pick(toolNames), params, sentence(), chance(0.3) ? 'error' : 'completed')
    },
    () => ({ context: { fileSelections: [{ uri: { fsPath: `/w/${pick(paths)}` } }] } }),
    () => ({ text: `${sentence()}\n\`\`\`\n${sentence()}\n\`\`\`` }),
    () => ({ errorDetails: { message: sentence() } }),
    () => ({}),
    () => ({}),
  ]
  const messageOf = (id: string): SaidMessage => {
    const rows = Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(kinds)())
    const modelInfo = chance(0.6) ? { modelInfo: { modelName: pick(modelNames) } } : {}
    return {
      id,
      text: chance(0.8) ? sentence() : '',
      role: pick(['user', 'assistant']),
      atMs: chance(0.1) ? null : NOW_MS - Math.floor(random() * 40 * DAY_MS),
      isOrphan: chance(0.1),
      row: Object.assign({}, modelInfo, ...rows) as Record<string, unknown>,
    }
  }
  return Array.from({ length: 14 }, (_, index): SaidChat => {
    const project = pick([null, 'red', 'blue', 'green'])
    const mode = pick([null, 'agent', 'ask'])
    const branch = branches[index % branches.length] ?? null
    const row = {
      ...(branch === null ? {} : { createdOnBranch: branch }),
      ...(mode === null ? {} : { unifiedMode: mode }),
      ...(chance(0.3) ? { modelConfig: { modelName: pick(modelNames) } } : {}),
      ...(chance(0.3) ? { latestConversationSummary: { summary: sentence() } } : {}),
      ...(chance(0.3) ? { isArchived: true } : {}),
      ...(chance(0.3) ? { subagentInfo: { parentComposerId: 'nobody' } } : {}),
    }
    const messages = Array.from({ length: 14 }, (_message, at) => messageOf(`m${index}-${at}`))
    return { id: `chat${index}`, title: sentence(), ...(project === null ? {} : { project }), row, messages }
  })
}

async function readBack({ world }: Searched): Promise<Omit<PlainCorpus, 'searched'>> {
  const listed = await world.get<Page<Chat>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  const chats = listed.items.map((chat) => ({
    ...chat,
    project: chat.project?.name ?? null,
    isLive: !chat.deletedInCursor,
  }))
  const threads = await Promise.all(
    chats.map(async (chat) => {
      const path = `/api/chats/${chat.id}/messages?limit=200&includeOrphans=true`
      const { items } = await world.get<Page<Message>>(path)
      return items.map((message): PlainMessage => ({
        ...message,
        chat,
        timeMs: message.createdAt === null ? null : Date.parse(message.createdAt),
        isLive: !message.deletedInCursor,
      }))
    }),
  )
  return { chats, messages: threads.flat() }
}
