import { DEPTH_MAX } from './bound-json.ts'
import { isBlank, wellFormed } from './json-value.ts'

const leavesMax = 100
const visitsMax = 10_000

/** Every different filled string in a value, in its order; for objects whose field names are not known. */
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
