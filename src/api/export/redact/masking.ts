import type { Json } from '../../../model/json.ts'
import type { MaskedCount } from '../stamp.ts'
import { findSecrets } from './find-secrets.ts'
import { isNamedSecret } from './rules.ts'

/** Separates the texts of one value: no secret continues across it. */
const GAP = '\n\u0000\n'

/** Masks secrets and counts them by kind. Keeps nothing of the secrets themselves. */
export class Masking {
  readonly #counts = new Map<string, number>()

  get counts(): readonly MaskedCount[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** The same value with the secrets in all its texts and object keys masked. Yields as it goes. */
  *mask<Value>(value: Value): Generator<void, Value> {
    const texts: string[] = []
    visit(value as Json, (text) => {
      texts.push(text)
      return text
    })
    const masked = yield* this.#maskAll(texts)
    let at = 0
    const next = (): string => masked[at++] ?? ''
    // Both visits meet the same texts in the same order.
    return visit(value as Json, next, (key, text) => this.#maskNamed(key, text)) as Value
  }

  /** The same without pauses. */
  maskAtOnce<Value>(value: Value): Value {
    for (const steps = this.mask(value); ;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  *#maskAll(texts: readonly string[]): Generator<void, readonly string[]> {
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
        // A span that reaches into the next text is used for that one too.
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

/** Rebuilds a value: `change` gets each text, then `changeNamed` gets each text that has a key. */
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
