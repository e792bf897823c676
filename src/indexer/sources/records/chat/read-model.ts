import { filledStringIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** `default` and `auto` name a choice left to Cursor, not a model. */
export function readModelName(record: JsonRecord | null, field: string): string | null {
  const name = filledStringIn(record, field)
  return name === null || /^\s*(?:default|auto)\s*$/i.test(name) ? null : name
}
