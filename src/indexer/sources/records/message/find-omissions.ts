import type { PendingReference } from '../../../../mirror/write/batch.ts'
import type { Json } from '../../../../model/json.ts'
import type { Part } from '../../../../model/part.ts'

/** Calls that are over and whose row does not say what they gave back: it may stand in what was sent to the model. */
export function findOmissions(parts: readonly Part[]): readonly PendingReference[] {
  const asks: PendingReference[] = []
  for (const part of parts) {
    if (part.kind !== 'tool' || part.callId === null || part.status === 'running' || part.error !== null) continue
    if (!saysSomething(part.output)) asks.push({ kind: 'output', name: part.callId, path: null })
  }
  return asks
}

/** Newer rows keep counts, ids and the hashes of contents in place of a result. */
function saysSomething(output: Json): boolean {
  const waiting: Json[] = [output]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string' && /\S/.test(value) && !isReference(value)) return true
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) waiting.push(each)
  }
  return false
}

const REFERENCE = /^(?:[\w.-]+[.:])?(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,})$/i

const isReference = (text: string): boolean => REFERENCE.test(text.trim())
