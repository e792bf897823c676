import type { Aside, AsideTask } from '../aside.ts'
import { openReader, type Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { FreshTerms } from '../write/write-dictionary.ts'
import { cutParts, type MessageTerms } from './write-terms.ts'

/** The newest messages of the backlog with their terms, newest first. */
export interface CutMessages {
  readonly messages: readonly { readonly key: number; readonly terms: MessageTerms }[]
  /** Their terms for the list of terms, without those of newer batches. */
  readonly listed: readonly string[]
}

/** The same in a form that is cheap to hand to another thread. */
interface CutBatch {
  readonly keys: Float64Array
  /** Where the columns of each message end in `bytes`. */
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
  readonly listed: readonly string[]
}

export interface CutOrder {
  readonly mirrorPath: string
}

/** Messages and characters of one batch, and of one transaction that indexes it. */
const MESSAGES_MAX = 4000
const LENGTH_MAX = 8 * 1024 * 1024

const LIST_NEWEST = `
select unindexed.key, bodies.parts
from unindexed cross join messages on messages.key = unindexed.key cross join bodies on bodies.num = body
where unindexed.key < ? order by unindexed.key desc limit ${MESSAGES_MAX}
`

/** @param below all keys are lower @returns at least one message, unless none is left */
export function cutNewest(db: Mirror, below: number): CutMessages['messages'] {
  const cut: { key: number; terms: MessageTerms }[] = []
  let length = 0
  for (const { key, parts } of prepared<{ key: number; parts: string }>(db, LIST_NEWEST).iterate(below)) {
    cut.push({ key, terms: cutParts(parts) })
    length += parts.length
    if (length > LENGTH_MAX) break
  }
  return cut
}

/** The task `cut-terms` of the other thread: cuts the whole backlog with a connection of its own. */
export function* cutBacklog({ mirrorPath }: CutOrder): Generator<CutBatch, void> {
  const db = openReader(mirrorPath, 2000)
  try {
    const fresh = new FreshTerms()
    for (let below = Number.MAX_SAFE_INTEGER; ;) {
      const messages = cutNewest(db, below)
      const last = messages.at(-1)
      if (last === undefined) return
      below = last.key
      const columns = messages.flatMap(({ terms }) => terms)
      const bytes = new Uint8Array(columns.reduce((sum, column) => sum + column.length, 0))
      const ends = new Uint32Array(columns.length)
      let at = 0
      for (const [index, column] of columns.entries()) {
        bytes.set(column, at)
        at += column.length
        ends[index] = at
      }
      const keys = Float64Array.from(messages, ({ key }) => key)
      yield { keys, ends, bytes, listed: messages.flatMap(({ terms }) => fresh.of(terms)) }
    }
  } finally {
    db.close()
  }
}

const versions = new WeakMap<Mirror, number>()

/** Call it whenever a message is added to the backlog, or taken from it without being indexed. */
export function noteBacklogChange(db: Mirror): void {
  versions.set(db, (versions.get(db) ?? 0) + 1)
}

const LIST_KEYS = `select key from unindexed where key >= ? order by key desc`

/** Takes terms that another thread cut. Everything that could be outdated is cut again. */
export class CutAhead {
  readonly #aside: Aside
  readonly #mirrorPath: string
  #task: AsideTask<CutBatch> | null = null
  /** The backlog for which the task was started. */
  #of: { readonly db: Mirror; readonly version: number | undefined } | null = null

  constructor(aside: Aside, mirrorPath: string) {
    this.#aside = aside
    this.#mirrorPath = mirrorPath
  }

  get isAtWork(): boolean {
    return this.#task !== null
  }

  /** @returns `later` while they are being cut; null if the caller has to cut them */
  take(db: Mirror): CutMessages | 'later' | null {
    const version = versions.get(db)
    if (this.#task !== null && (this.#of?.db !== db || this.#of.version !== version)) this.end()
    if (this.#task === null) {
      const order: CutOrder = { mirrorPath: this.#mirrorPath }
      this.#task = this.#aside.start<CutBatch>('cut-terms', order)
      this.#of = { db, version }
    }
    const taken = this.#task?.take() ?? { kind: 'failed' }
    if (taken.kind === 'later') return 'later'
    if (taken.kind !== 'value' || !isNewest(db, taken.value.keys)) {
      this.end()
      return null
    }
    return messagesOf(taken.value)
  }

  end(): void {
    this.#task?.cancel()
    this.#task = null
  }
}

function isNewest(db: Mirror, keys: Float64Array): boolean {
  const last = keys.at(-1) ?? 0
  const there = prepared<number>(db, LIST_KEYS).pluck().all(BigInt(last))
  return there.length === keys.length && there.every((key, at) => key === keys[at])
}

function messagesOf({ keys, ends, bytes, listed }: CutBatch): CutMessages {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const perMessage = ends.length / keys.length
  const column = (at: number): Buffer => whole.subarray(at === 0 ? 0 : ends[at - 1], ends[at])
  const messages = Array.from(keys, (key, index) => ({
    key,
    terms: Array.from({ length: perMessage }, (_, at) => column(index * perMessage + at)),
  }))
  return { messages, listed }
}
