import type { Json } from '../../../../model/json.ts'
import { isWellFormed, wellFormed, isBlank } from './json-value.ts'

export interface BoundedJson {
  /** Null if the value was too deep. */
  readonly value: Json
  readonly isTooDeep: boolean
}

/** `JSON.parse` reads any depth, but `JSON.stringify` and every recursive reader would overflow the stack. */
export const DEPTH_MAX = 500

/** Returns a parsed value that can be stored and walked; it is the same object if nothing needs repair. */
export function boundJson(value: unknown): BoundedJson {
  const found = inspect(value)
  if (found === 'too-deep') return { value: null, isTooDeep: true }
  return { value: found === 'ill-formed' ? repaired(value as Json) : ((value ?? null) as Json), isTooDeep: false }
}

function inspect(root: unknown): 'fine' | 'ill-formed' | 'too-deep' {
  let isFine = true
  const waiting = [{ value: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') isFine &&= isWellFormed(value)
    if (typeof value !== 'object' || value === null) continue
    if (depth === DEPTH_MAX) return 'too-deep'
    if (!Array.isArray(value)) isFine &&= Object.keys(value).every(isWellFormed)
    for (const child of Object.values(value)) waiting.push({ value: child, depth: depth + 1 })
  }
  return isFine ? 'fine' : 'ill-formed'
}

/** Recursive, so call it only on a shallow value. `fromEntries` makes a key `__proto__` an ordinary key. */
function repaired(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(repaired)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [wellFormed(key), repaired(child)]))
}

const leavesMax = 100
const visitsMax = 10_000

/** Every distinct non-blank string in a value, in order; for objects whose field names are not known. */
export function stringLeaves(root: unknown): readonly string[] {
  const leaves = new Set<string>()
  const waiting = [{ value: root, depth: 0 }]
  for (let visits = 0; visits < visitsMax && leaves.size < leavesMax; visits += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value, depth } = next
    if (typeof value === 'string' && !isBlank(value)) leaves.add(wellFormed(value))
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) continue
    const children: readonly unknown[] = Object.values(value)
    for (const child of children.slice(0, visitsMax).reverse()) waiting.push({ value: child, depth: depth + 1 })
  }
  return [...leaves]
}
