import type { Chat } from '../../../model/chat.ts'
import type { Json } from '../../../model/json.ts'
import type { Message } from '../../../model/message.ts'
import type { ExportStamp, MaskedCount } from '../stamp.ts'
import { findSecrets } from './find-secrets.ts'
import { isNamedSecret } from './rules.ts'

type Write = (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Iterable<string>

export interface Redacted {
  /** The chat with its secrets masked: its title is part of the file's name. */
  readonly chat: Chat
  /** An empty piece is a pause, in which the caller can do other work. */
  readonly text: Iterable<string>
}

/** A chat as a file. Secrets are masked before the text is formatted, whatever the format. */
export function redacted(write: Write, chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Redacted {
  const masking = new Masking()
  const steps = masking.mask(chat)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  const masked = step.value
  return {
    chat: masked,
    text: writeRedacted(write, masked, messages, { ...stamp, masked: () => masking.counts }, masking),
  }
}

function* writeRedacted(
  write: Write,
  chat: Chat,
  messages: Iterable<Message>,
  stamp: ExportStamp,
  masking: Masking,
): Generator<string> {
  const source = messages[Symbol.iterator]()
  // A writer takes at most one message between two pieces, so one masked message is kept ready.
  const ready: Message[] = []
  const take = function* (): Generator<Message> {
    for (let message = ready.shift(); message !== undefined; message = ready.shift()) yield message
  }
  const pieces = write(chat, take(), stamp)[Symbol.iterator]()
  for (let isOver = false; ;) {
    if (ready.length === 0 && !isOver) {
      const next = source.next()
      if (next.done === true) isOver = true
      else {
        const steps = masking.mask(next.value)
        for (let step = steps.next(); ; step = steps.next()) {
          if (step.done === true) {
            ready.push(step.value)
            break
          }
          yield ''
        }
      }
    }
    const piece = pieces.next()
    if (piece.done === true) return
    yield piece.value
  }
}

/** Separates the texts of one value: no secret continues across it. */
const GAP = '\n\u0000\n'

/** Masks secrets and counts them by kind. Keeps nothing of the secrets themselves. */
class Masking {
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
