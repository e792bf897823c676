import type { PendingReference } from '../../../mirror/write/batch.ts'
import type { Json } from '../../../model/json.ts'
import type { Part } from '../../../model/part.ts'
import { readItemPath } from './fields.ts'
import { DEPTH_MAX, asRecord, firstFilledIn, type JsonRecord } from './json.ts'

/** Finished calls whose row has no output: it may be in what was sent to the model. */
export function findOmissions(parts: readonly Part[]): readonly PendingReference[] {
  const asks: PendingReference[] = []
  for (const part of parts) {
    if (part.kind !== 'tool' || part.callId === null || part.status === 'running' || part.error !== null) continue
    if (!hasText(part.output)) asks.push({ kind: 'output', name: part.callId, path: null })
  }
  return asks
}

/** Newer rows contain counts, ids and hashes of contents instead of a result. */
function hasText(output: Json): boolean {
  const waiting: Json[] = [output]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string' && /\S/.test(value) && !isReference(value)) return true
    if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) waiting.push(each)
  }
  return false
}

const REFERENCE = /^(?:[\w.-]+[.:])?(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,})$/i

const isReference = (text: string): boolean => REFERENCE.test(text.trim())

/** Pasted and attached texts are stored under this prefix and their SHA-256. */
export const CONTENT_PREFIX = 'composer.content.'
const REFERENCE_TO_CONTENT = /composer\.content\.([0-9a-f]{64})(?![0-9a-f])/g
const CONTENTS_MAX = 100

/**
 * The contents that a message's record refers to. Tool data is skipped: the versions of a file before and after each
 * edit are neither pasted nor attached, and the call already describes the edit.
 */
export function findContents(record: JsonRecord): readonly PendingReference[] {
  const paths = new Map<string, string | null>()
  const { toolFormerData: _, ...rest } = record
  const waiting: { value: unknown; path: string | null; depth: number }[] = [{ value: rest, path: null, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined && paths.size < CONTENTS_MAX; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') {
      for (const [, hash] of value.matchAll(REFERENCE_TO_CONTENT))
        if (hash !== undefined) noteFirst(paths, hash, next.path)
    }
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) continue
    const path = nameOf(asRecord(value), depth) ?? next.path
    for (const child of Object.values(value).reverse()) waiting.push({ value: child, path, depth: depth + 1 })
    for (const key of Object.keys(value)) {
      for (const [, hash] of key.matchAll(REFERENCE_TO_CONTENT)) if (hash !== undefined) noteFirst(paths, hash, path)
    }
  }
  return [...paths].map(([name, path]) => ({ kind: 'content', name, path: path ?? 'pasted text' }))
}

function noteFirst(paths: Map<string, string | null>, hash: string, path: string | null): void {
  if (!paths.has(hash)) paths.set(hash, path)
}

/** The name in the object around a reference. The record itself is the message, so its fields name nothing in it. */
function nameOf(record: JsonRecord | null, depth: number): string | null {
  if (record === null || depth === 0) return null
  const name = readItemPath(record) ?? firstFilledIn(record, ['relativeWorkspacePath', 'fileName', 'name', 'title'])
  return name === null || name.includes(CONTENT_PREFIX) ? null : name
}
