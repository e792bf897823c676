import { constants } from 'node:buffer'
import type { IssueReason } from '../../../../model/issue.ts'
import { parseExactly } from './exact-json.ts'
import { asRecord, type JsonRecord } from './json-value.ts'

export type ParsedRow =
  | { readonly kind: 'record'; readonly record: JsonRecord }
  | { readonly kind: 'issue'; readonly reason: IssueReason }

/** Bytes that are no UTF-8 become U+FFFD, so that one broken character does not cost the row. */
export function parseRow(value: string | Buffer): ParsedRow {
  if (value.length > constants.MAX_STRING_LENGTH) return { kind: 'issue', reason: 'too-large' }
  const parsed = parseExactly(typeof value === 'string' ? value : value.toString('utf8'))
  if (parsed === null) return { kind: 'issue', reason: 'bad-json' }
  const record = asRecord(parsed.value)
  return record === null ? { kind: 'issue', reason: 'not-an-object' } : { kind: 'record', record }
}
