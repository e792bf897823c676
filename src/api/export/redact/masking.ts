import type { Json } from '../../../model/json.ts'
import type { MaskedCount } from '../stamp.ts'
import { findSecrets } from './find-secrets.ts'
import { isNamedSecret } from './rules.ts'

/** Between the texts of one value: no secret goes on behind it. */
const GAP = '\n\u0000\n'

/** Masks secrets in what is exported, and counts them by their kind; of the secrets themselves nothing is kept. */
export class Masking {
  readonly #counts = new Map<string, number>()

  get counts(): readonly MaskedCount[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** The same value with its secrets masked, in all its texts and in the keys of its objects. Yields as it goes. */
  async *mask<Value>(value: Value): AsyncGenerator<void, Value> {
    const texts: string[] = []
    visit(value as Json, (text) => {
      texts.push(text)
      return text
    })
    const masked = yield* this.#maskAll(texts)
    let at = 0
    const next = (): string => masked[at++] ?? ''
    // Both walks meet the same texts in the same order.
    return visit(value as Json, next, (key, text) => this.#maskNamed(key, text)) as Value
  }

  async *#maskAll(texts: readonly string[]): AsyncGenerator<void, readonly string[]> {
    const spans = yield* findSecrets(texts.join(GAP))
    const masked: string[] = []
    let offset = 0
    let at = 0
    for (const text of texts) {
      const end = offset + text.length
      let [done, shown] = [offset, '']
      for (let span = spans[at]; span !== undefined && span.start < end; span = spans[at]) {
        const start = Math.max(span.start, done)
        const until = Math.min(span.end, end)
        if (until > start) {
          shown += text.slice(done - offset, start - offset) + this.#markOf(span.kind)
          done = until
        }
        // What goes on behind the gap is looked at again with the next text.
        if (span.end > end) break
        at += 1
      }
      masked.push(shown + text.slice(done - offset))
      offset = end + GAP.length
    }
    return masked
  }

  #maskNamed(key: string, text: string): string {
    return isNamedSecret(key, text) ? this.#markOf('named-secret') : text
  }

  #markOf(kind: string): string {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    return `[masked: ${kind}]`
  }
}

/** Rebuilds a value with each of its texts given to `change`; a text under a key then to `changeNamed`. */
function visit(
  value: Json,
  change: (text: string) => string,
  changeNamed?: (key: string, text: string) => string,
): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => visit(each as Json, change, changeNamed))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, each]): [string, Json] => {
    const shown = change(key)
    const changed = visit(each, change, changeNamed)
    return [shown, typeof changed === 'string' && changeNamed !== undefined ? changeNamed(key, changed) : changed]
  })
  return Object.fromEntries(entries)
}
