import type { Json } from '../../model/json.ts'
import type { Part } from '../../model/part.ts'
import { holdsAny } from './scope.ts'

/** A string that a message holds, or a number as it is written. Of `words`, somebody said or wrote them; what is none names something, a file or a tool. */
export interface Saying {
  readonly text: string
  readonly isWords: boolean
}

/** Every string and number in a message's parts, but for those that its form alone brings: names of fields and kinds, and states. */
export function* sayingsOf(parts: readonly Part[]): Generator<Saying> {
  for (const part of parts) {
    for (const text of wordsOf(part)) yield { text, isWords: true }
    for (const text of namesOf(part)) yield { text, isWords: false }
  }
}

/** Of these, what holds a text. @param needles as `needlesOf` gives them */
export function* matching(parts: readonly Part[], needles: readonly string[]): Generator<Saying> {
  for (const saying of sayingsOf(parts)) if (holdsAny(saying.text, needles)) yield saying
}

/**
 * Whether a message holds a text.
 * @param json of its parts, or of what holds them, which are then given: most hold it in no form, which is known
 *   without looking at each string
 */
export function isMatching(json: string, needles: readonly string[], parts?: readonly Part[]): boolean {
  if (!holdsAny(json, needles)) return false
  return matching(parts ?? (JSON.parse(json) as readonly Part[]), needles).next().done === false
}

function wordsOf(part: Part): readonly string[] {
  if (part.kind === 'tool') return known([part.error, ...leavesOf(part.output)])
  if (part.kind === 'todo') return part.items.map(({ content }) => content)
  return known([part.text])
}

function namesOf(part: Part): readonly string[] {
  if (part.kind === 'tool') return known([part.name, part.callId, ...leavesOf(part.input), ...part.paths])
  if (part.kind === 'attachment') return known([part.path, part.hash])
  if (part.kind === 'code') return known([part.language, part.path])
  return part.kind === 'todo' ? known(part.items.map(({ id }) => id)) : []
}

const known = (texts: readonly (string | null | undefined)[]): readonly string[] =>
  texts.filter((text) => text !== null && text !== undefined)

/** Every string in it, and every number as JSON writes it, however deep; of objects the keys, too. */
function leavesOf(given: Json): readonly string[] {
  const leaves: string[] = []
  const pending: Json[] = [given]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') leaves.push(value)
    else if (typeof value === 'number') leaves.push(String(value))
    else if (Array.isArray(value)) for (const each of value) pending.push(each as Json)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) pending.push(key, each)
    }
  }
  return leaves
}
