import type { Json } from '../../../model/json.ts'
import type { MaskedCount } from '../formats.ts'
import { findSecrets } from './find-secrets.ts'
import { isNamedSecret } from './rules.ts'

/** Longer texts are no value of a name. */
const NAMED_LENGTH_MAX = 4096
/** Names of headers, whose values have a shape with their name. */
const HEADER = /authorization|cookie|^x-|(?:token|key)$/i

/** Separates the texts of one value: no secret continues across it. */
const GAP = '\n\u0000\n'

/** Masks secrets and counts them by kind. Keeps nothing of the secrets themselves. */
export class Masking {
  readonly #counts = new Map<string, number>()
  readonly #kept: RegExp | null

  /** @param kept keys of objects whose texts stay as they are */
  constructor(kept: RegExp | null = null) {
    this.#kept = kept
  }

  get counts(): readonly MaskedCount[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1))
  }

  /** The same value with the secrets in all its texts and object keys masked. */
  mask<Value>(value: Value): Value {
    const texts: string[] = []
    const collect = (text: string): string => {
      texts.push(text)
      return text
    }
    visit(value as Json, { text: collect, named: (_, text) => text, kept: this.#kept })
    const masked = this.#maskAll(texts)
    let at = 0
    // Both visits meet the same texts in the same order.
    const text = (): string => masked[at++] ?? ''
    return visit(value as Json, { text, named: (key, each) => this.#maskNamed(key, each), kept: this.#kept }) as Value
  }

  #maskAll(texts: readonly string[]): readonly string[] {
    const spans = findSecrets(texts.join(GAP))
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

  /** A text whose name stands beside it: the key of an object, or the flag before it. */
  #maskNamed(name: string, text: string): string {
    if (text.length > NAMED_LENGTH_MAX) return text
    if (isNamedSecret(name, text)) return this.#markOf('named-secret')
    if (!HEADER.test(name)) return text
    const header = `${name}: `
    const [masked = ''] = this.#maskAll([header + text])
    return masked.slice(header.length)
  }

  #markOf(kind: string): string {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    return `[masked: ${kind}]`
  }
}

interface Changes {
  readonly text: (text: string) => string
  /** Gets what `text` gave, with the name beside it. */
  readonly named: (name: string, text: string) => string
  /** Not within the parts of a message: what a chat contains can have any key. */
  readonly kept: RegExp | null
}

/** Rebuilds a value. */
function visit(value: Json, changes: Changes, name = ''): Json {
  if (typeof value === 'string') return name === '' ? changes.text(value) : changes.named(name, changes.text(value))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((each, at) => visit(each as Json, changes, flagOf(value[at - 1]) ?? name))
  }
  const given = value as { readonly [key: string]: Json }
  const entries = Object.entries(given).map(([key, each]): [string, Json] => {
    if (typeof each === 'string' && changes.kept?.test(key) === true) return [key, each]
    const within = key === 'parts' ? { ...changes, kept: null } : changes
    return [changes.text(key), visit(each, within, key === 'value' ? nameBeside(given) : key)]
  })
  return Object.fromEntries(entries)
}

/** `["--password", "…"]` */
const flagOf = (before: unknown): string | null =>
  typeof before === 'string' && /^--?[a-z][\w-]*$/i.test(before) ? before : null

/** `{"name": "DB_PASSWORD", "value": "…"}` */
function nameBeside({ name, key }: Readonly<Record<string, unknown>>): string {
  const beside = name ?? key
  return typeof beside === 'string' ? beside : 'value'
}
