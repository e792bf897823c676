import { hash as digest } from 'node:crypto'
import type { Mirror } from '../open.ts'
import { inserting, prepared } from '../sql.ts'
import type { MessageDraft, MessageWrite } from '../../model/change.ts'
import type { CallFact, Role } from '../../model/message.ts'
import { type Part, type TodoItem, toolStatuses } from '../../model/part.ts'
import { type ColumnTexts, marksOf, wholeColumns } from '../../text/terms/columns.ts'
import { estimateMessage } from '../../text/tokens/estimate-tokens.ts'

const DAMAGED: Part = { kind: 'error', text: 'The text of this message is damaged in the mirror.' }

/** The parts of a stored message. If a damaged page changed them, they are one error: no read and no pass fails on it. */
export const parseParts = (json: string): readonly Part[] => partsOrNull(json) ?? [DAMAGED]

/** Null if a damaged page changed them. */
export function partsOrNull(json: string): readonly Part[] | null {
  try {
    const parts: unknown = JSON.parse(json)
    if (Array.isArray(parts) && parts.every(isPart)) return parts
  } catch {
    // Not JSON.
  }
  return null
}

const isText = (member: unknown): boolean => typeof member === 'string'

/** Whether it has what every reader of a part of its kind relies on. */
function isPart(value: Partial<Record<string, unknown>> | null): value is Part & typeof value {
  switch (value?.['kind']) {
    case 'text':
    case 'thinking':
    case 'code':
    case 'error':
    case 'plan':
    case 'summary':
      return isText(value['text'])
    case 'attachment':
      return isText(value['path']) && (value['text'] === null || isText(value['text']))
    case 'todo':
      return Array.isArray(value['items']) && value['items'].every((item: TodoItem | null) => isText(item?.content))
    case 'tool': {
      const { name, paths, error } = value
      return isText(name) && Array.isArray(paths) && paths.every(isText) && (error === null || isText(error))
    }
    default:
      return false
  }
}

/** White space that is not a single space. Most is, and replacing each by itself takes five times as long. */
const WHITE_SPACE = /[^\S ]\s*| \s+/g

/** The text with normalised white space, for comparison; null if it has no words. */
export function comparable(text: string): string | null {
  const words = text.replace(WHITE_SPACE, ' ').trim()
  return words === '' ? null : words
}

const shortHash = (text: string): string => digest('sha256', text).slice(0, 12)

/** A 48-bit hash that is equal for messages with the same words; null if there are none. */
export function textKey(parts: readonly Part[]): number | null {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? (comparable(part.text) ?? []) : []))
  return texts.length === 0 ? null : parseInt(shortHash(texts.join('\u0000')), 16)
}

/**
 * Short hashes of a message's texts, to compare messages of several sources. Empty for a message of only tool calls; null
 * if the message has other content that cannot be compared.
 */
export function textKeys(parts: readonly Part[]): string | null {
  const keys = parts.flatMap((part) => {
    const text =
      part.kind === 'text' || part.kind === 'error' || part.kind === 'thinking' || part.kind === 'summary'
        ? comparable(part.text)
        : null
    return text === null ? [] : [shortHash(text)]
  })
  if (keys.length > 0) return keys.join(' ')
  return parts.every((part) => part.kind === 'tool') ? '' : null
}

/** Splits the result of `textKeys`. Empty if there was nothing to compare. */
export const splitTextKeys = (keys: string | null): string[] => (keys ?? '').split(' ').filter((key) => key !== '')

/** A call with more paths than this lists files; it does not work on each of them. */
const PATHS_MAX = 100

export function callsOf(parts: readonly Part[]): readonly CallFact[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'tool') return []
    const { name: tool, paths } = part
    // A damaged body may contain an unknown status.
    const status = toolStatuses.includes(part.status) ? part.status : 'completed'
    return [{ tool, status, paths: paths.length < 2 ? paths : [...new Set(paths)].slice(0, PATHS_MAX) }]
  })
}

/** The rows of a message's calls. @param body the number of its body */
export const rowsOf = (body: number | bigint, calls: readonly CallFact[]): unknown[][] =>
  calls.flatMap(({ tool, status, paths }, call) =>
    (paths.length === 0 ? [null] : paths).map((path, file) => [body, call, file, tool, status, path]),
  )

/** They are removed with their body. */
export const addCalls = inserting('calls (body, call, file, tool, status, path)', '(?, ?, ?, ?, ?, ?)')
const DROP_CALLS = `delete from calls where body = ?`

export function replaceCalls(db: Mirror, body: number, calls: readonly CallFact[]): void {
  prepared(db, DROP_CALLS).run(body)
  addCalls(db, rowsOf(body, calls))
}

/** A message without plans and summaries keeps the hash that older programs gave it. */
const hashedColumns = ({ plan, summary, ...columns }: ColumnTexts): string[] => [
  ...Object.values(columns),
  ...(plan === '' && summary === '' ? [] : [plan, summary]),
]

/** What is stored of a message's parts, and the facts that follow from them. */
export function packParts(role: Role, parts: readonly Part[]) {
  const { columns, isCapped } = wholeColumns(parts)
  return {
    partsJson: JSON.stringify(parts),
    estimate: estimateMessage(role, parts),
    calls: callsOf(parts),
    contentHash: digest('sha256', hashedColumns(columns).join('\u0000'), 'base64').slice(0, 20),
    isIndexCapped: isCapped,
    textKeys: textKeys(parts),
    marks: JSON.stringify(marksOf(parts)),
    userText: role === 'user' ? textKey(parts) : null,
  }
}

/** The expensive part of writing a message. It needs no database. */
export function packMessage(draft: MessageDraft): MessageWrite {
  // Field by field: an object from a rest pattern is slow to create and slow to read afterwards.
  return {
    id: draft.id,
    alias: draft.alias,
    role: draft.role,
    sentAtMs: draft.sentAtMs,
    startedAtMs: draft.startedAtMs,
    timingAtMs: draft.timingAtMs,
    model: draft.model,
    tokens: draft.tokens,
    requestId: draft.requestId ?? null,
    isSimulated: draft.isSimulated,
    octets: draft.octets,
    isEmbedded: draft.isEmbedded,
    references: draft.references ?? [],
    childChatIds: draft.childChatIds ?? [],
    remembered: draft.remembered ?? null,
    ...packParts(draft.role, draft.parts),
  }
}
