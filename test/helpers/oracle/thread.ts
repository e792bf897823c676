import { isEmpty, type Holdings } from './parts.ts'
import { asArray, asFields, asText } from './values.ts'
import type { Fields } from './values.ts'

/** One bubble of a chat, from its own row or from inside the chat's row. */
export interface Bubble {
  /** Null if Cursor gives none. */
  readonly id: string | null
  readonly value: Fields
  readonly holdings: Holdings
}

interface Header {
  readonly index: number
  readonly id: string
  readonly value: Fields
}

export interface Placed {
  readonly bubble: Bubble
  /** Null if the chat does not name it. */
  readonly position: number | null
  readonly header: Fields | null
}

export interface Timed extends Placed {
  readonly timeMs: number | null
  readonly timeSource: 'message' | 'header' | 'timing' | 'neighbour' | 'chat' | null
}

/** Smaller numbers are times since the start of a process, not since 1970. */
const EPOCH_FLOOR_MS = 1e12
const TIMINGS = ['clientStartTime', 'clientRpcSendTime', 'clientSettleTime', 'clientEndTime']

export function headersOf(chat: Fields | null): readonly Header[] {
  return asArray(chat?.['fullConversationHeadersOnly']).flatMap((value, index) => {
    const header = asFields(value)
    const id = asText(header?.['bubbleId'])
    return header === null || id === null ? [] : [{ index, id, value: header }]
  })
}

/** Gives every bubble the place of its header: by key, by its own id, or by start time and type. */
export function placeByHeaders(headers: readonly Header[], bubbles: readonly Bubble[]): Placed[] {
  const free = new Set(headers)
  const placed = new Map<Bubble, Header>()
  const rules: readonly ((header: Header, bubble: Bubble) => boolean)[] = [
    (header, bubble) => header.id === bubble.id,
    (header, bubble) => header.id === bubble.value['bubbleId'],
    (header, bubble) => header.value['type'] === bubble.value['type'] && startsTogether(header.value, bubble.value),
  ]
  for (const rule of rules) {
    for (const bubble of bubbles) {
      const header = placed.has(bubble) ? undefined : [...free].find((candidate) => rule(candidate, bubble))
      if (header === undefined) continue
      placed.set(bubble, header)
      free.delete(header)
    }
  }
  return bubbles.map((bubble) => {
    const header = placed.get(bubble)
    return { bubble, position: header?.index ?? null, header: header?.value ?? null }
  })
}

function startsTogether(header: Fields, bubble: Fields): boolean {
  const starts = (value: Fields): number[] =>
    [timeOf(value['startedAtMs']), timeOf(value['createdAt'])].filter((time) => time !== null)
  return starts(header).some((time) => starts(bubble).includes(time))
}

export function placeByTime(bubbles: readonly Bubble[]): Placed[] {
  const time = (bubble: Bubble): number => ownTime(bubble.value) ?? timingOf(bubble.value) ?? 1e15
  return bubbles
    .toSorted((one, other) => time(one) - time(other))
    .map((bubble, position) => ({ bubble, position, header: null }))
}

/** @param thread in order, without orphans: these have no neighbours */
export function giveTimes(thread: readonly Placed[], chatTimeMs: number | null): Timed[] {
  // A row with nothing to show is no neighbour.
  const known = thread.map((placed) => (isEmpty(placed.bubble.holdings) ? null : knownTime(placed)))
  return thread.map((placed, at) => {
    const own = known[at]
    if (own !== undefined && own !== null) return { ...placed, ...own }
    const isPlaced = placed.position !== null
    const next = isPlaced ? known.slice(at + 1).find((time) => time !== null) : undefined
    const previous = isPlaced ? known.slice(0, at).findLast((time) => time !== null) : undefined
    // An answer has the time of its question, a question that of its answer.
    const isUser = (placed.bubble.value['type'] ?? placed.header?.['type']) === 1
    const near = isUser ? (next ?? previous) : (previous ?? next)
    if (near !== undefined) return { ...placed, timeMs: near.timeMs, timeSource: 'neighbour' }
    return { ...placed, timeMs: chatTimeMs, timeSource: chatTimeMs === null ? null : 'chat' }
  })
}

function knownTime({ bubble, header }: Placed): Pick<Timed, 'timeMs' | 'timeSource'> | null {
  const own = ownTime(bubble.value)
  if (own !== null) return { timeMs: own, timeSource: 'message' }
  const named = timeOf(header?.['createdAt']) ?? timeOf(header?.['startedAtMs'])
  if (named !== null) return { timeMs: named, timeSource: 'header' }
  const timing = timingOf(bubble.value)
  return timing === null ? null : { timeMs: timing, timeSource: 'timing' }
}

function ownTime(bubble: Fields): number | null {
  return timeOf(bubble['createdAt']) ?? timeOf(bubble['startedAtMs'])
}

function timingOf(bubble: Fields): number | null {
  const timings = asFields(bubble['timingInfo'])
  return TIMINGS.map((name) => timeOf(timings?.[name])).find((time) => time !== null) ?? null
}

/** Epoch milliseconds from all known forms: ISO text, numbers, fractions, digits in a string. */
export function timeOf(value: unknown): number | null {
  const isDigits = typeof value === 'string' && /^\d+$/.test(value)
  const time = isDigits ? Number(value) : typeof value === 'string' ? Date.parse(value) : value
  return typeof time === 'number' && time > EPOCH_FLOOR_MS ? Math.trunc(time) : null
}
