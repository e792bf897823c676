import type { Json } from '../../model/json.ts'
import type { Part } from '../../model/part.ts'

/** Every string in a message's parts, however deep; of objects the keys, too. */
export function* leavesOf(parts: readonly Part[]): Generator<string> {
  const pending: Json[] = [parts as unknown as Json]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') yield value
    else if (Array.isArray(value)) for (const each of value) pending.push(each as Json)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) pending.push(key, each)
    }
  }
}
