import { asChatId } from '../../../model/ids.ts'
import type { ScoredCommit, TrackedWrite } from '../../../model/commit.ts'
import { countIn, filledString } from '../records/json/json-value.ts'
import { readModelName } from '../records/common-fields.ts'
import { readTime } from '../records/json/read-time.ts'
import type { TrackingRow } from './read.ts'

const HOUR_MS = 3_600_000

/** What a person typed or accepted from a completion does not belong to a chat. */
const NO_CHATS = new Set<unknown>(['human', 'tab'])

interface Hour extends TrackedWrite {
  readonly models: Map<string, number>
}

/** Sums up rows by chat and hour, and drops everything else in them. */
export class TrackingTally {
  #hours = new Map<string, Hour>()
  #commits: ScoredCommit[] = []

  get size(): number {
    return this.#hours.size + this.#commits.length
  }

  /** @returns false if the row has data that cannot be understood */
  addHash(row: TrackingRow): boolean {
    if (NO_CHATS.has(row['source']) || row['has_conversationId'] !== 1 || row['conversationId'] === '') return true
    const id = filledString(row['conversationId'])
    const atMs = readTime(row['timestamp']) ?? readTime(row['createdAt'])
    if (id === null) return false
    if (atMs === null) return row['has_timestamp'] !== 1 && row['has_createdAt'] !== 1
    const key = `${Math.floor(atMs / HOUR_MS)} ${id}`
    const held = this.#hours.get(key)
    const models = held?.models ?? new Map<string, number>()
    const model = readModelName(row, 'model')
    if (model !== null) models.set(model, Math.max(atMs, models.get(model) ?? 0))
    const [firstAtMs, lastAtMs] = [Math.min(atMs, held?.firstAtMs ?? atMs), Math.max(atMs, held?.lastAtMs ?? atMs)]
    this.#hours.set(key, { chatId: asChatId(id), firstAtMs, lastAtMs, models })
    return true
  }

  /** @returns false if the row has data that cannot be understood */
  addCommit(row: TrackingRow): boolean {
    const sha = row['commitHash']
    if (row['has_commitHash'] !== 1) return true
    if (typeof sha !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(sha)) return false
    const [added, removed] = [countIn(row, 'composerLinesAdded'), countIn(row, 'composerLinesDeleted')]
    const chatLines = added === null && removed === null ? null : (added ?? 0) + (removed ?? 0)
    this.#commits.push({ sha: sha.toLowerCase(), chatLines })
    return true
  }

  /** Returns the sums and starts again from zero. */
  take(): { readonly tracked: readonly TrackedWrite[]; readonly scoredCommits: readonly ScoredCommit[] } {
    const taken = { tracked: [...this.#hours.values()], scoredCommits: this.#commits }
    this.#hours = new Map()
    this.#commits = []
    return taken
  }
}
