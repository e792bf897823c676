import { crc32 } from 'node:zlib'
import type Database from 'better-sqlite3'
import { endedBy, openCursorFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import { readPlainFile } from '../../open-safely/read-plain-file.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { EntryIssue } from '../records/state/model-messages.ts'
import { walkState, type WalkedState } from '../records/state/walk-state.ts'
import { decodeSidecar, decodeStoreFacts, type Sidecar, type StoreFacts } from './decode-facts.ts'
import type { StoreFile } from './list-stores.ts'
import { hasBlobs, listForeign, readBlobs, readFacts } from './read.ts'

interface Cost {
  readonly bytesRead: number
  readonly longestReadMs: number
}

/** The current content of a store. */
export interface ReadStore extends Cost {
  readonly kind: 'read'
  readonly facts: StoreFacts
  readonly sidecar: Sidecar
  /** Null if the chat is still empty. */
  readonly state: WalkedState | null
  /** Issues of single blobs, by their ids. */
  readonly issues: readonly EntryIssue[]
  /** Size and CRC-32 of everything that the chat consists of. */
  readonly octets: number
  readonly checksum: number
}

/** `busy`: it may be readable in a moment. `issue`: it cannot be read at all. */
export type StoreReading =
  | ReadStore
  | ({ readonly kind: 'issue'; readonly reason: IssueReason } & Cost)
  | ({ readonly kind: 'busy' } & Cost)

const nothingRead: Cost = { bytesRead: 0, longestReadMs: 0 }

/** Reads one chat's store in short transactions. Blobs that the chat's newest state does not reach are not read. */
export function readStore(store: Pick<StoreFile, 'path' | 'sidecarPath'>): StoreReading {
  const file = openCursorFile(store.path)
  // It was deleted after it was listed: the next pass tells whether for good.
  if (file.kind === 'closed') return file.state === 'busy' || file.state === 'missing' ? busy : unreadable
  try {
    return readOpen(new StoreReader(file), readSidecar(store.sidecarPath))
  } catch (error) {
    const { state } = endedBy(error)
    return state === 'busy' || state === 'missing' ? busy : unreadable
  } finally {
    file.close()
  }
}

const busy: StoreReading = { kind: 'busy', ...nothingRead }
const unreadable: StoreReading = { kind: 'issue', reason: 'unreadable-page', ...nothingRead }

const SIDECAR_BYTES_MAX = 1024 * 1024

/** Null if there is no such file, or it cannot be read. */
function readSidecar(path: string): Buffer | null {
  const file = readPlainFile(path, SIDECAR_BYTES_MAX)
  return file.kind === 'bytes' ? file.bytes : null
}

function readOpen(reader: StoreReader, sidecarBytes: Buffer | null): StoreReading {
  const raw = reader.read(readFacts)
  if (raw === null) return reader.issue(reader.read(listForeign).length === 0 ? 'null-value' : 'unknown-shape')
  for (const value of [...raw.values.values(), sidecarBytes]) reader.note(value)
  const facts = decodeStoreFacts(raw)
  if (facts === null) return reader.issue('bad-json')
  const { sidecar, isTorn } = decodeSidecar(sidecarBytes)
  const beside: EntryIssue[] = isTorn ? [{ key: 'meta.json', reason: 'bad-json' }] : []
  const { rootId } = facts
  if (rootId === null) {
    const isLost = sidecar.hasConversation !== false && reader.read(hasBlobs)
    return isLost ? reader.issue('missing-blob') : reader.whole(facts, sidecar, null, beside)
  }
  const root = reader.blobs([rootId]).get(rootId) ?? null
  if (root === null) return reader.issue(reader.reasonOf(rootId))
  const state = walkState(root, (ids) => reader.blobs(ids), rootId)
  const found = state.issues.map(({ key, reason }) => ({ key, reason: reader.explain(key, reason, facts) }))
  const ofRoot = found.find(({ key }) => key === rootId)
  if (ofRoot !== undefined && state.entries.length === 0) return reader.issue(ofRoot.reason)
  return reader.whole(facts, sidecar, state, [...beside, ...found])
}

class StoreReader {
  readonly #file: OpenFile
  readonly #unread = new Map<string, IssueReason>()
  #bytesRead: number
  #longestReadMs = 0
  #octets = 0
  #checksum = 0

  constructor(file: OpenFile) {
    this.#file = file
    this.#bytesRead = file.bytesRead
  }

  read<Value>(use: (db: Database.Database) => Value): Value {
    const startedAt = performance.now()
    const value = this.#file.read(use)
    this.#longestReadMs = Math.max(this.#longestReadMs, performance.now() - startedAt)
    return value
  }

  /** Adds data of the chat to size and checksum. */
  note(bytes: Buffer | null): void {
    this.#octets += bytes?.length ?? 0
    this.#checksum = crc32(bytes ?? '-', this.#checksum)
  }

  blobs(ids: readonly string[]): ReadonlyMap<string, Buffer | null> {
    const found = new Map<string, Buffer | null>()
    while (found.size < ids.length) {
      const rest = ids.slice(found.size)
      for (const [id, blob] of this.read((db) => readBlobs(db, rest, this.#file.readMsMax))) {
        if (blob.kind !== 'blob') this.#unread.set(id, reasons[blob.kind])
        const data = blob.kind === 'blob' ? blob.data : null
        found.set(id, data)
        this.note(data)
        if (data === null) continue
        this.#bytesRead += data.length
      }
    }
    return found
  }

  /** Why a blob was not read. */
  reasonOf = (id: string): IssueReason => this.#unread.get(id) ?? 'missing-blob'

  /** The walk only knows that a blob is missing or makes no sense; the store may know why. */
  explain(key: string, reason: IssueReason, { isEncrypted }: StoreFacts): IssueReason {
    if (reason === 'missing-blob') return this.reasonOf(key)
    return isEncrypted && (reason === 'bad-json' || reason === 'unknown-shape') ? 'encrypted' : reason
  }

  issue = (reason: IssueReason): StoreReading => ({
    kind: 'issue',
    reason,
    bytesRead: this.#bytesRead,
    longestReadMs: this.#longestReadMs,
  })

  whole(facts: StoreFacts, sidecar: Sidecar, state: WalkedState | null, issues: readonly EntryIssue[]): StoreReading {
    return {
      kind: 'read',
      facts,
      sidecar,
      state,
      issues,
      octets: this.#octets,
      checksum: this.#checksum,
      bytesRead: this.#bytesRead,
      longestReadMs: this.#longestReadMs,
    }
  }
}

const reasons: Readonly<Record<'missing' | 'too-large' | 'unreadable', IssueReason>> = {
  missing: 'missing-blob',
  'too-large': 'too-large',
  unreadable: 'unreadable-page',
}
