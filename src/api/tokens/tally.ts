import type { ChatRecord, ImportedEvent, MessageSum, RecordedMessage } from '../queries/tokens.ts'
import type { ImportedTokens, TokenSources } from '../answers/tokens.ts'

const importedFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cents'] as const
type ImportedField = (typeof importedFields)[number] | 'total'

/** One row of the ledger, with separate sums for each source. */
export class Tally {
  #messages = 0
  /** Messages with an estimate and no record. Plain numbers, because there may be as many tallies as chats. */
  #estimated = 0
  #estimatedInput = 0
  #estimatedOutput = 0
  #recorded: { messages: number; input: number | null; output: number | null } | null = null
  #snapshot: { tokens: number; chats: number } | null = null
  #cents: number | null = null
  #events = 0
  #imported: Map<ImportedField, number> | null = null
  #priced: { cents: number | null; messages: number; unpriced: number } | null = null

  addMessages({ messages, estimated, input, output }: MessageSum): void {
    this.#messages += messages
    this.#estimated += estimated
    this.#estimatedInput += input ?? 0
    this.#estimatedOutput += output ?? 0
  }

  addRecorded({ input, output, estimatedInput, estimatedOutput }: RecordedMessage): void {
    this.#recorded ??= { messages: 0, input: null, output: null }
    this.#recorded.messages += 1
    this.#recorded.input = sumOf(this.#recorded.input, input)
    this.#recorded.output = sumOf(this.#recorded.output, output)
    if (estimatedInput === null) return
    // A record replaces the estimate that was made before it.
    this.#estimated -= 1
    this.#estimatedInput -= estimatedInput
    this.#estimatedOutput -= estimatedOutput ?? 0
  }

  /** @param cents the list price of a recorded message; null if unknown */
  addPrice(cents: number | null): void {
    this.#priced ??= { cents: null, messages: 0, unpriced: 0 }
    if (cents === null) this.#priced.unpriced += 1
    else {
      this.#priced.cents = sumOf(this.#priced.cents, cents)
      this.#priced.messages += 1
    }
  }

  addContext({ contextTokens }: ChatRecord): void {
    if (contextTokens === null) return
    this.#snapshot ??= { tokens: 0, chats: 0 }
    this.#snapshot.tokens += contextTokens
    this.#snapshot.chats += 1
  }

  addCents({ cents }: ChatRecord): void {
    this.#cents = sumOf(this.#cents, cents)
  }

  addEvent(event: ImportedEvent): void {
    this.#events += 1
    for (const field of importedFields) this.#addImported(field, event[field])
    const parts = [event.input, event.output, event.cacheRead, event.cacheWrite].filter((count) => count !== null)
    this.#addImported(
      'total',
      event.total ?? (parts.length === 0 ? null : parts.reduce((sum, count) => sum + count, 0)),
    )
  }

  #addImported(field: ImportedField, value: number | null): void {
    if (value === null) return
    this.#imported ??= new Map()
    this.#imported.set(field, (this.#imported.get(field) ?? 0) + value)
  }

  get messages(): number {
    return this.#messages
  }

  toSources(): TokenSources {
    const recorded = this.#recorded?.messages ?? 0
    const estimated = { input: this.#estimatedInput, output: this.#estimatedOutput, messages: this.#estimated }
    return {
      recorded: this.#recorded,
      imported: this.#toImported(),
      estimated: estimated.messages === 0 ? null : estimated,
      contextSnapshot: this.#snapshot,
      recordedCents: rounded(this.#cents),
      priced: this.#priced === null ? null : { ...this.#priced, cents: rounded(this.#priced.cents) },
      coverage: {
        messages: this.#messages,
        recorded,
        estimated: estimated.messages,
        unknown: this.#messages - recorded - estimated.messages,
      },
    }
  }

  #toImported(): ImportedTokens | null {
    if (this.#events === 0) return null
    const valueOf = (field: ImportedField): number | null => this.#imported?.get(field) ?? null
    return {
      input: valueOf('input'),
      output: valueOf('output'),
      cacheRead: valueOf('cacheRead'),
      cacheWrite: valueOf('cacheWrite'),
      cents: rounded(valueOf('cents')),
      total: valueOf('total'),
      events: this.#events,
    }
  }
}

/** An unknown number adds nothing, and an unknown sum does not become 0. */
const sumOf = (sum: number | null, more: number | null): number | null => (more === null ? sum : (sum ?? 0) + more)

/** Removes the rounding errors of adding fractions of a cent. */
const rounded = (cents: number | null): number | null => (cents === null ? null : Math.round(cents * 1e6) / 1e6)
