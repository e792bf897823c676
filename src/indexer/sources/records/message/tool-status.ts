import type { ToolStatus } from '../../../../model/part.ts'
import { asRecord, filledStringIn, holdsSomething, parsedRecord } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

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
 * How a call ended. A rejected command has the `status` `completed`, and the true state of a question is in its
 * additional data, so `status` is read last.
 */
export function toolStatus(call: ToolOutcome): ToolStatus {
  if (isRejected(call)) return 'rejected'
  // Cursor gives tool number 0 to a call that it could not interpret.
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

/**
 * Why a call was blocked (`blockReason`) stays in its row after the user allowed it, and does not tell how it ended.
 */
function isRejected({ record, additional, result }: ToolOutcome): boolean {
  const review = reviewedAs(additional)
  if (review !== null) return review === 'rejected'
  return record['userDecision'] === 'rejected' || asRecord(result)?.['rejected'] === true
}

/** The user's choice in the dialog. Until its status is `Done`, the option is only the dialog's default. */
function reviewedAs(additional: JsonRecord | null): 'accepted' | 'rejected' | null {
  const review = parsedRecord(additional?.['reviewData'])
  if (filledStringIn(review, 'status') !== 'Done') return null
  const option = filledStringIn(review, 'selectedOption') ?? ''
  if (/^reject/i.test(option)) return 'rejected'
  return option === 'accept' || option === 'run' ? 'accepted' : null
}
