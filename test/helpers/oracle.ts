import { lendersOf } from './oracle/lent-tokens.ts'
import { holdingsOf, isEmpty } from './oracle/parts.ts'
import type { Holdings } from './oracle/parts.ts'
import { readRows } from './oracle/rows.ts'
import type { BubbleRow } from './oracle/rows.ts'
import { giveTimes, headersOf, placeByHeaders, placeByTime, timeOf } from './oracle/thread.ts'
import type { Bubble, Placed, Timed } from './oracle/thread.ts'
import { asArray, asFields, asText, parseJson } from './oracle/values.ts'
import type { Fields } from './oracle/values.ts'

export interface ExpectedMessage {
  /** Null if Cursor gives none and an id must be derived. */
  readonly id: string | null
  /** In a thread ordered by time: the rank among its messages. */
  readonly position: number | null
  readonly role: 'user' | 'assistant'
  readonly createdAt: string | null
  readonly createdAtSource: Timed['timeSource']
  readonly model: string | null
  readonly tokens: { readonly input: number | null; readonly output: number | null } | null
  readonly isOrphan: boolean
  readonly isSimulated: boolean
  readonly deletedInCursor: boolean
  readonly holdings: Holdings
}

export interface ExpectedChat {
  readonly id: string
  /** Required values of these members. Members that Cursor's format leaves open are not included. */
  readonly facts: Readonly<Record<string, unknown>>
  /** Set if the title comes from the user's words: the text that it must begin. */
  readonly titleStart: string | null
  readonly order: 'headers' | 'array' | 'time'
  /** Set if the chat's list of messages names them. */
  readonly names: ReadonlyMap<string, number>
  /** The thread in order, followed by the orphans by time. */
  readonly messages: readonly ExpectedMessage[]
}

export interface Expected {
  readonly chats: ReadonlyMap<string, ExpectedChat>
  readonly issues: Readonly<Record<string, number>>
}

interface Thread {
  readonly format: 'split' | 'inline' | 'map'
  readonly order: ExpectedChat['order']
  readonly placed: readonly Placed[]
}

/**
 * The required answers for a store: an independent reading of it, as simple and slow as possible, that shares no code
 * with the program.
 */
export function readExpected(path: string): Expected {
  const { chats, bubbles, issues } = readRows(path)
  const childIds = new Set([...chats.values()].flatMap((chat) => asArray(chat?.['subagentComposerIds'])))
  const expected = new Map<string, ExpectedChat>()
  for (const id of new Set([...chats.keys(), ...bubbles.map((bubble) => bubble.chatId)])) {
    const chat = chats.get(id)
    const rows = bubbles.filter((bubble) => bubble.chatId === id)
    if (chat === null && rows.length === 0) continue
    expected.set(id, expectChat(id, chat, rows, childIds.has(id)))
  }
  return { chats: expected, issues }
}

/** @param chat undefined if the chat has no row, null if the row has no value */
function expectChat(
  id: string,
  chat: Fields | null | undefined,
  rows: readonly BubbleRow[],
  isChild: boolean,
): ExpectedChat {
  const createdMs = timeOf(chat?.['createdAt'])
  const thread = threadOf(chat ?? null, rows)
  const all = timed(thread, createdMs)
  const lenders = lendersOf(all)
  const messages = all
    .filter(({ bubble }) => !isEmpty(bubble.holdings))
    .map((one) => expectMessage(one, [one, ...(lenders.get(one) ?? [])]))
  const held = thread.order === 'time' ? ranked(messages) : messages
  const name = asText(asText(chat?.['name'])?.trim())
  const firstWords = held.find((message) => !message.isOrphan && message.role === 'user' && message.holdings.text[0])
  const titleStart = name === null ? (firstWords?.holdings.text[0] ?? null) : null
  const facts: Record<string, unknown> = {
    titleSource: name !== null ? 'cursor' : titleStart !== null ? 'first-message' : 'none',
    // It is left open whether a chat without a time gets the time of its first message.
    createdAt: isoOf(createdMs) ?? undefined,
    mode: chat ? (asText(chat['unifiedMode']) ?? asText(chat['forceMode'])) : null,
    model: chatModel(chat ?? null, held),
    format: thread.format,
    isArchived: chat?.['isArchived'] === true,
    isSubagent: isChild || id.startsWith('task-') || asFields(chat?.['subagentInfo']) !== null,
    deletedInCursor: chat === null,
    ...countsOf(held),
  }
  if (titleStart === null) facts['title'] = name ?? 'Untitled chat'
  for (const [key, value] of Object.entries(facts)) if (value === undefined) delete facts[key]
  const names = new Map(headersOf(chat ?? null).map((header) => [header.id, header.index]))
  return { id, facts, titleStart, order: thread.order, names, messages: held }
}

export function countsOf(messages: readonly ExpectedMessage[]): Record<string, number> {
  const thread = messages.filter((message) => !message.isOrphan)
  return {
    messageCount: thread.length,
    userMessageCount: thread.filter((message) => message.role === 'user').length,
    toolCallCount: thread.flatMap((message) => message.holdings.tool).length,
  }
}

function threadOf(chat: Fields | null, rows: readonly BubbleRow[]): Thread {
  const headers = headersOf(chat)
  const split = rows.map(({ id, value }) => ({ id, value, holdings: holdingsOf(value, oldToolOf(chat, id)) }))
  const array = asArray(chat?.['conversation'])
  const map = Object.entries(asFields(chat?.['conversationMap']) ?? {})
  if (split.length > 0 || (array.length === 0 && map.length === 0)) {
    if (headers.length === 0) return { format: 'split', order: 'time', placed: placeByTime(split) }
    return { format: 'split', order: 'headers', placed: placeByHeaders(headers, split) }
  }
  if (array.length > 0) {
    const placed = array.flatMap((item, position): Placed[] => {
      const value = asFields(item)
      return value === null
        ? []
        : [{ bubble: embedded(chat, asText(value['bubbleId']), value), position, header: null }]
    })
    return { format: 'inline', order: 'array', placed }
  }
  const bubbles = map.map(([id, item]) => embedded(chat, id, asFields(item) ?? {}))
  if (headers.length === 0) return { format: 'map', order: 'time', placed: placeByTime(bubbles) }
  return { format: 'map', order: 'headers', placed: placeByHeaders(headers, bubbles) }
}

function embedded(chat: Fields | null, id: string | null, value: Fields): Bubble {
  return { id, value, holdings: holdingsOf(value, oldToolOf(chat, id)) }
}

/** The first split chats have their calls in the chat's row, under the message's id. */
function oldToolOf(chat: Fields | null, id: string | null): unknown {
  const tools = asArray(chat?.['capabilities']).find((capability) => asFields(capability)?.['type'] === 15)
  const map = asFields(asFields(tools)?.['data'])?.['bubbleDataMap']
  return id === null ? undefined : asFields(typeof map === 'string' ? parseJson(map) : map)?.[id]
}

function timed(thread: Thread, createdMs: number | null): Timed[] {
  const named = thread.placed.filter(({ position }) => position !== null)
  const line = named.toSorted((one, other) => (one.position ?? 0) - (other.position ?? 0))
  const orphans = thread.placed.filter(({ position }) => position === null)
  const later = giveTimes(orphans, createdMs).toSorted((one, other) => (one.timeMs ?? 0) - (other.timeMs ?? 0))
  return [...giveTimes(line, createdMs), ...later]
}

function ranked(messages: readonly ExpectedMessage[]): ExpectedMessage[] {
  return messages.map((message, position) => ({ ...message, position }))
}

function expectMessage(
  { bubble, header, position, timeMs, timeSource }: Timed,
  counted: readonly Timed[],
): ExpectedMessage {
  const { value } = bubble
  return {
    id: bubble.id,
    position,
    role: (value['type'] ?? header?.['type']) === 1 ? 'user' : 'assistant',
    createdAt: isoOf(timeMs),
    createdAtSource: timeSource,
    model: realModel(asFields(value['modelInfo'])?.['modelName']),
    tokens: tokensOf(counted.map((one) => asFields(one.bubble.value['tokenCount']))),
    isOrphan: position === null,
    isSimulated: value['isSimulatedMsg'] === true,
    deletedInCursor: false,
    holdings: bubble.holdings,
  }
}

function tokensOf(counts: readonly (Fields | null)[]): ExpectedMessage['tokens'] {
  const sum = (name: string): number | null => {
    const recorded = counts
      .map((count) => count?.[name])
      .filter((one) => typeof one === 'number' && one >= 1 && one < 2 ** 40)
    return recorded.length === 0 ? null : recorded.reduce<number>((total, one) => total + Number(one), 0)
  }
  const [input, output] = [sum('inputTokens'), sum('outputTokens')]
  return input === null && output === null ? null : { input, output }
}

/** @returns undefined if it is left open: a chat that names no model, while its messages do */
function chatModel(chat: Fields | null, messages: readonly ExpectedMessage[]): string | null | undefined {
  const chosen = realModel(asFields(chat?.['modelConfig'])?.['modelName'])
  return chosen ?? (messages.some((message) => message.model !== null) ? undefined : null)
}

/** `default` and `auto` leave the choice to Cursor, which does not record it. */
function realModel(name: unknown): string | null {
  return name === 'default' || name === 'auto' ? null : asText(name)
}

function isoOf(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
