import { expect } from 'vitest'
import type { ExpectedChat, ExpectedMessage } from '../oracle.ts'
import type { RunningDaemon } from '../running-daemon.ts'
import { errorLines } from './parts.ts'
import type { Holdings, ToolCall } from './parts.ts'
import type { Fields } from './values.ts'

type Asker = Pick<RunningDaemon, 'get'>

interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
}

interface AnsweredPart extends Fields {
  readonly kind: string
  readonly text?: string | null
}

export interface AnsweredMessage {
  readonly id: string
  readonly chatId: string
  readonly position: number | null
  readonly role: 'user' | 'assistant'
  readonly createdAt: string | null
  readonly createdAtSource: ExpectedMessage['createdAtSource']
  readonly model: string | null
  readonly tokens: { readonly input: number | null; readonly output: number | null; readonly source: string } | null
  readonly isOrphan: boolean
  readonly isSimulated: boolean
  readonly deletedInCursor: boolean
  readonly parts: readonly AnsweredPart[]
}

interface AnsweredChat extends Fields {
  readonly id: string
  readonly title: string
}

// Odd sizes, so that the last page of most lists is not full.
const CHATS_A_PAGE = 17
const MESSAGES_A_PAGE = 90

/** Requests every chat and every message, and compares each with the expected answer. */
export async function expectAnswers(daemon: Asker, expected: ReadonlyMap<string, ExpectedChat>): Promise<void> {
  const chats = await listAll<AnsweredChat>(daemon, '/api/chats?includeEmpty=true&subagents=true', CHATS_A_PAGE)
  expect(chats.map((chat) => chat.id).sort()).toEqual([...expected.keys()].sort())
  const wanted: unknown[] = []
  const given: unknown[] = []
  for (const chat of chats) {
    const want = expected.get(chat.id)
    if (want === undefined) continue
    const messages = await messagesOf(daemon, chat.id)
    expect(messages.every((message) => message.chatId === chat.id)).toBe(true)
    expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length)
    wanted.push({ id: want.id, ...want.facts, hasFittingTitle: true, messages: want.messages })
    given.push({
      id: chat.id,
      ...Object.fromEntries(Object.keys(want.facts).map((name) => [name, chat[name]])),
      hasFittingTitle: want.titleStart === null || begins(want.titleStart, chat.title),
      messages: comparable(messages, want),
    })
  }
  expect(given).toEqual(wanted)
}

/** A chat's thread and orphans over HTTP, in the order of the answer. */
export async function messagesOf(daemon: Asker, chatId: string): Promise<AnsweredMessage[]> {
  const path = `/api/chats/${encodeURIComponent(chatId)}/messages?includeOrphans=true`
  return listAll<AnsweredMessage>(daemon, path, MESSAGES_A_PAGE)
}

async function listAll<T>(daemon: Asker, path: string, limit: number): Promise<T[]> {
  const items: T[] = []
  for (;;) {
    const page = await daemon.get<Page<T>>(`${path}&limit=${limit}&offset=${items.length}`)
    items.push(...page.items)
    if (page.items.length < limit || items.length >= page.total) {
      expect(items.length).toBe(page.total)
      return items
    }
  }
}

function begins(text: string, title: string): boolean {
  const words = (value: string): string => value.split(/\s+/).join(' ').trim()
  const start = words(title.replace(/(…|\.\.\.)$/, ''))
  return start !== '' && words(text).startsWith(start)
}

/** The answer in the form of the expected one, without members that are left open. */
function comparable(messages: readonly AnsweredMessage[], want: ExpectedChat): ExpectedMessage[] {
  const ranks = messages.filter((message) => message.position !== null)
  return messages.map((message, at) => {
    const isNamed = want.messages[at]?.id !== null
    const rank = ranks.indexOf(message)
    const tokens = message.tokens?.source === 'recorded' ? message.tokens : null
    return {
      id: isNamed ? message.id : null,
      position: want.order === 'time' && rank !== -1 ? rank : message.position,
      role: message.role,
      createdAt: message.createdAt,
      createdAtSource: message.createdAtSource,
      model: message.model,
      tokens: tokens === null ? null : { input: tokens.input, output: tokens.output },
      isOrphan: message.isOrphan,
      isSimulated: message.isSimulated,
      deletedInCursor: message.deletedInCursor,
      holdings: holdingsAnswered(message.parts),
    }
  })
}

function holdingsAnswered(parts: readonly AnsweredPart[]): Holdings {
  const of = (kind: string): readonly AnsweredPart[] => parts.filter((part) => part.kind === kind)
  const texts = (kind: string): string[] => of(kind).map((part) => String(part.text))
  return {
    text: texts('text'),
    thinking: texts('thinking'),
    code: texts('code').filter((code) => !texts('text').some((text) => text.includes(code))),
    tool: of('tool').map((part): ToolCall => {
      const { name, status, callId, input, output, error } = part as unknown as ToolCall
      return { name, status, callId, input, output, error }
    }),
    // An image has no path, so it is left open whether and under which name it is returned.
    attachment: of('attachment')
      .map((part) => String(part['path']))
      .filter((path) => path !== 'image'),
    todo: of('todo').flatMap((part) => (part['items'] as readonly { content: string }[]).map((item) => item.content)),
    error: errorLines(texts('error')),
  }
}
