import type { KeyAllocator } from './messages/key-allocator.ts'
import type { PendingTerms } from '../fulltext/pending-terms.ts'
import type { RepeatedPrompts } from './chats/prompt-chats.ts'
import type { SourceRanks } from '../sources/source-ranks.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** A name that a search can use as a filter, with its kind. */
const ADD_NAME = `insert into names (kind, name) values (?, ?) on conflict do nothing`
const TOOL = 'tool:'

/** Adds names of tools and models to `names`. Valid for one transaction only: after a rollback the cache would be wrong. */
export class Names {
  readonly #db: Mirror
  readonly #listed = new Set<string>()

  constructor(db: Mirror) {
    this.#db = db
  }

  /** @param marksJson the message's marks as stored */
  write(marksJson: string, model: string | null): void {
    if (marksJson.includes(TOOL)) {
      for (const mark of JSON.parse(marksJson) as readonly string[]) {
        if (mark.startsWith(TOOL)) this.#add('tool', mark.slice(TOOL.length))
      }
    }
    if (model !== null) this.#add('model', model)
  }

  #add(kind: 'tool' | 'model', name: string): void {
    const entry = `${kind} ${name}`
    if (this.#listed.has(entry)) return
    prepared(this.#db, ADD_NAME).run(kind, name)
    this.#listed.add(entry)
  }
}

/** Helpers that all writes of one transaction share. */
export interface WriteTools {
  readonly terms: PendingTerms
  readonly keys: KeyAllocator
  readonly ranks: SourceRanks
  readonly prompts: RepeatedPrompts
  readonly names: Names
  /** Whether messages get an estimate of their tokens. */
  readonly isEstimating: boolean
}
