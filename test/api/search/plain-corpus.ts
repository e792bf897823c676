import type { Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { giveChat, type MachineName } from '../../../src/mirror/machines/write-machines.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { createRandom } from '../../../bench/words.ts'
import { insertChat, insertMessage, insertProject, openTestMirror } from '../../helpers/mirror-rows.ts'

export interface PlainChat {
  readonly id: string
  readonly title: string
  readonly summary: string | null
  readonly project: string | null
  readonly mode: string | null
  readonly model: string | null
  readonly isArchived: boolean
  readonly isSubagent: boolean
  readonly isLive: boolean
  /** Null: this machine. */
  readonly machine: MachineName | null
}

export interface PlainMessage {
  readonly id: string
  readonly chat: PlainChat
  readonly role: 'user' | 'assistant'
  readonly position: number
  readonly timeMs: number | null
  readonly model: string | null
  readonly isOrphan: boolean
  readonly isLive: boolean
  readonly parts: readonly Part[]
}

export interface PlainCorpus {
  readonly chats: readonly PlainChat[]
  readonly messages: readonly PlainMessage[]
  readonly db: Mirror
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
/** Two of them have the same name. */
export const machines: readonly MachineName[] = [
  { uuid: 'u-1', name: 'laptop', user: 'ada' },
  { uuid: 'u-2', name: 'Laptop', user: 'grace' },
  { uuid: 'u-3', name: 'build server', user: 'grace' },
]
export const DAY_MS = 86_400_000
export const NOW_MS = Date.UTC(2026, 0, 20, 12)

/** About 200 messages with few different words, so that most queries find some of them. */
export function plainCorpus(): PlainCorpus {
  const random = createRandom(11)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const chance = (share: number): boolean => random() < share
  const sentence = (): string => Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(vocabulary)).join(' ')
  const partOf = (): Part => {
    switch (Math.floor(random() * 8)) {
      case 0:
        return { kind: 'thinking', text: sentence(), durationMs: null }
      case 1:
        return { kind: 'code', language: null, path: chance(0.7) ? pick(paths) : null, text: sentence() }
      case 2: {
        const call = {
          callId: null,
          input: { what: sentence() },
          output: sentence(),
          paths: chance(0.5) ? [pick(paths)] : [],
        }
        const isError = chance(0.3)
        return { kind: 'tool', name: pick(toolNames), status: isError ? 'error' : 'completed', error: null, ...call }
      }
      case 3:
        return { kind: 'attachment', path: pick(paths), text: chance(0.5) ? sentence() : null }
      case 4:
        return { kind: 'text', text: `${sentence()}\n\`\`\`\n${sentence()}\n\`\`\`` }
      case 5:
        return { kind: 'error', text: sentence() }
      default:
        return { kind: 'text', text: sentence() }
    }
  }
  const chats = Array.from({ length: 14 }, (_, index): PlainChat => ({
    id: `chat${index}`,
    title: sentence(),
    summary: chance(0.3) ? sentence() : null,
    project: pick([null, 'red', 'blue', 'green']),
    mode: pick([null, 'agent', 'ask']),
    model: pick([null, ...modelNames]),
    isArchived: chance(0.3),
    isSubagent: chance(0.3),
    isLive: chance(0.7),
    machine: machines[index % 5] ?? null,
  }))
  const messages = Array.from({ length: 200 }, (_, index): PlainMessage => ({
    id: `m${index}`,
    chat: pick(chats),
    role: pick(['user', 'assistant']),
    position: index,
    timeMs: chance(0.1) ? null : NOW_MS - Math.floor(random() * 40 * DAY_MS),
    model: pick([null, null, ...modelNames]),
    isOrphan: chance(0.1),
    isLive: chance(0.9),
    parts: Array.from({ length: 1 + Math.floor(random() * 3) }, partOf),
  }))
  return { chats, messages, db: mirrorOf(chats, messages) }
}

function mirrorOf(chats: readonly PlainChat[], messages: readonly PlainMessage[]): Mirror {
  const db = openTestMirror()
  const projects = new Map(['red', 'blue', 'green'].map((name) => [name, insertProject(db, name)]))
  const state = db.prepare(
    'update chats set mode = ?, model = ?, is_archived = ?, is_subagent = ?, is_live = ? where num = ?',
  )
  const nums = new Map<PlainChat, number>()
  db.transaction(() => {
    for (const chat of chats) {
      const project = chat.project === null ? null : (projects.get(chat.project) ?? null)
      const num = insertChat(db, { id: chat.id, title: chat.title, summary: chat.summary, project })
      state.run(chat.mode, chat.model, Number(chat.isArchived), Number(chat.isSubagent), Number(chat.isLive), num)
      giveChat(db, asChatId(chat.id), chat.machine)
      nums.set(chat, num)
    }
    for (const { chat, timeMs, ...message } of messages) {
      insertMessage(db, nums.get(chat) ?? 0, { ...message, createdAtMs: timeMs })
    }
    const copy = { parts: 'apple user', isOrphan: true, isShadowed: true }
    insertMessage(db, 1, { id: 'shadowed', createdAtMs: NOW_MS - DAY_MS, ...copy })
  })()
  return db
}
