import type { PendingReference } from '../../../../mirror/write/batch.ts'
import { DEPTH_MAX } from '../json/bound-json.ts'
import { asRecord, firstFilledIn, type JsonRecord } from '../json/json-value.ts'
import { readItemPath } from '../message/read-path.ts'

/** Texts that were pasted or attached are kept apart, under this and their SHA-256. */
export const CONTENT_PREFIX = 'composer.content.'
const MENTION = /composer\.content\.([0-9a-f]{64})(?![0-9a-f])/g
const CONTENTS_MAX = 100

/**
 * The contents that a message's record names. Not those of its tool data: a file before and after each edit is neither
 * pasted nor attached, and the edit itself is told by its call.
 */
export function findContents(record: JsonRecord): readonly PendingReference[] {
  const paths = new Map<string, string | null>()
  const { toolFormerData: _, ...rest } = record
  const waiting: { value: unknown; path: string | null; depth: number }[] = [{ value: rest, path: null, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined && paths.size < CONTENTS_MAX; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') {
      for (const [, hash] of value.matchAll(MENTION)) if (hash !== undefined) noteFirst(paths, hash, next.path)
    }
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) continue
    const path = nameOf(asRecord(value), depth) ?? next.path
    for (const child of Object.values(value).reverse()) waiting.push({ value: child, path, depth: depth + 1 })
    for (const key of Object.keys(value)) {
      for (const [, hash] of key.matchAll(MENTION)) if (hash !== undefined) noteFirst(paths, hash, path)
    }
  }
  return [...paths].map(([name, path]) => ({ kind: 'content', name, path: path ?? 'pasted text' }))
}

function noteFirst(paths: Map<string, string | null>, hash: string, path: string | null): void {
  if (!paths.has(hash)) paths.set(hash, path)
}

/** What the object around a mention calls it. The record itself is the message, and no name of anything in it. */
function nameOf(record: JsonRecord | null, depth: number): string | null {
  if (record === null || depth === 0) return null
  const name = readItemPath(record) ?? firstFilledIn(record, ['relativeWorkspacePath', 'fileName', 'name', 'title'])
  return name === null || name.includes(CONTENT_PREFIX) ? null : name
}
