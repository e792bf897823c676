import type { ToolStatus } from '../../../model/part.ts'
import { asRecord, filledString, filledStringIn, holdsSomething, parsedRecord } from './json-value.ts'
import type { JsonRecord } from './json-value.ts'

const statusByWord: ReadonlyMap<string, ToolStatus> = new Map([
  ['completed', 'completed'],
  ['success', 'completed'],
  ['submitted', 'completed'],
  ['error', 'error'],
  ['failed', 'error'],
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['aborted', 'cancelled'],
  ['rejected', 'rejected'],
  ['loading', 'running'],
  ['running', 'running'],
  ['pending', 'running'],
  ['generating', 'running'],
])

export interface ToolOutcome {
  readonly record: JsonRecord
  readonly additional: JsonRecord | null
  readonly result: unknown
  readonly error: string | null
}

/**
 * How a call ended. A rejected command says `completed` in its `status`, and a question's true state stands in its
 * additional data, so `status` is asked last.
 */
export function toolStatus(call: ToolOutcome): ToolStatus {
  if (isRejected(call)) return 'rejected'
  // Tool number 0 is Cursor's mark for a call that it could not make sense of.
  if (call.record['tool'] === 0 && call.error !== null) return 'error'
  return wordStatus(call.additional) ?? wordStatus(call.record) ?? impliedStatus(call)
}

function wordStatus(record: JsonRecord | null): ToolStatus | null {
  const word = filledStringIn(record, 'status')
  return word === null ? null : (statusByWord.get(word.trim().toLowerCase()) ?? null)
}

function impliedStatus(call: ToolOutcome): ToolStatus {
  if (call.error !== null) return 'error'
  return holdsSomething(call.result) ? 'completed' : 'running'
}

/** Why a call was held back stays in its row when the user has let it go, or has not said yet. */
function isRejected({ record, additional, result }: ToolOutcome): boolean {
  const decision = record['userDecision']
  if (decision === 'rejected' || asRecord(result)?.['rejected'] === true) return true
  if (decision === 'accepted' || decision === 'pending') return false
  return isGiven(additional?.['blockReason']) || saysRejected(additional?.['reviewData'])
}

const isGiven = (value: unknown): boolean => value !== false && value !== 0 && holdsSomething(value)

function saysRejected(reviewData: unknown): boolean {
  const review = parsedRecord(reviewData)
  const words =
    review === null ? [filledString(reviewData)] : ['status', 'decision'].map((at) => filledStringIn(review, at))
  return words.some((word) => word !== null && /reject/i.test(word))
}
