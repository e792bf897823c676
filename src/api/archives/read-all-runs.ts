import { isNewer, type ChatEntry, type SealedManifest } from '../../archive/manifest.ts'
import { readManifest } from './manifest-files.ts'
import { readEntry, readObjects, type FoundRuns, type ReadChat } from './open-run.ts'
import { listObjects } from './purge/read-objects.ts'

/** Chats of one run, each once. */
export type Round = AsyncIterable<ReadChat>

/** The run with the newest state of a chat. */
interface Newest {
  readonly run: string
  readonly revision: number
}

/** How many damaged manifests are reported in detail. */
const TOLD_MAX = 3

/**
 * Reads all runs of a folder: the newest sound state of each chat, for each mirror that archived it. If a manifest is
 * damaged, also every sound object that no other manifest names. Keeps only one manifest in memory at a time.
 */
export class AllRuns {
  readonly #dir: string
  readonly #names: readonly string[]
  readonly #damaged = new Map<string, string>()
  /** States that differ from their manifest entry. */
  readonly #bad = new Set<string>()
  #done = 0
  #total = 0

  constructor({ dir, names }: FoundRuns) {
    this.#dir = dir
    this.#names = names
  }

  /** Which manifests are damaged and why. Null if all that were read are sound. */
  get why(): string | null {
    const told = [...this.#damaged].slice(0, TOLD_MAX).map(([name, why]) => `${name}: ${why}`)
    if (told.length === 0) return null
    const more = this.#damaged.size - told.length
    return more === 0 ? told.join('; ') : `${told.join('; ')}; and ${more} more`
  }

  /** The caller must write the chats of one round before it reads the next. Many rounds are empty, so that other work gets a turn. */
  async *rounds(): AsyncGenerator<Round> {
    for (let wanted: ReadonlySet<string> | null = null; wanted === null || wanted.size > 0;) {
      const newest = new Map<string, Newest>()
      for (const name of this.#names) {
        this.#choose(name, wanted, newest)
        yield none()
      }
      this.#total += newest.size
      const missed = new Set<string>()
      const runs = new Set([...newest.values()].map(({ run }) => run))
      for (const name of this.#names) if (runs.has(name)) yield this.#readChosen(name, newest, missed)
      // If the newest state of a chat is damaged, the one before is restored.
      wanted = missed
    }
    if (this.#damaged.size > 0) yield* this.#unnamed()
  }

  /** @param wanted keys of the chats to find; null for all */
  #choose(name: string, wanted: ReadonlySet<string> | null, newest: Map<string, Newest>): void {
    const manifest = this.#read(name)
    if (manifest === null) return
    for (const entry of manifest.chats) {
      const key = keyOf(manifest, entry)
      if (wanted?.has(key) === false || this.#bad.has(stateOf(entry))) continue
      const rival = newest.get(key)
      // The revisions of one mirror are in order. Of equal ones the newest run's is taken.
      if (rival === undefined || isNewer(entry.revision, rival.revision)) {
        newest.set(key, { run: name, revision: entry.revision })
      }
    }
  }

  async *#readChosen(name: string, newest: ReadonlyMap<string, Newest>, missed: Set<string>): Round {
    const manifest = this.#read(name)
    if (manifest === null) return
    const { origin } = manifest
    const chosen = manifest.chats.filter((entry) => newest.get(keyOf({ origin }, entry))?.run === name)
    for (const entry of chosen) {
      const state = stateOf(entry)
      this.#done += 1
      const chat = await readEntry(this.#dir, entry)
      if (chat.kind === 'damaged') {
        this.#bad.add(state)
        missed.add(keyOf({ origin }, entry))
      }
      yield { chat, done: this.#done, total: this.#total }
    }
  }

  async *#unnamed(): AsyncGenerator<Round> {
    const objects = new Set(listObjects(this.#dir))
    for (const name of this.#names) {
      for (const { object } of this.#read(name)?.chats ?? []) objects.delete(object)
      yield none()
    }
    yield readObjects(this.#dir, [...objects])
  }

  #read(name: string): SealedManifest | null {
    if (this.#damaged.has(name)) return null
    const read = readManifest(this.#dir, name)
    if (read.kind === 'sound') return read.value
    this.#damaged.set(name, read.why)
    return null
  }
}

/** Identifies a chat of one mirror. */
const keyOf = ({ origin }: Pick<SealedManifest, 'origin'>, { id }: ChatEntry): string => JSON.stringify([origin, id])

const stateOf = ({ id, object, content, bytes }: ChatEntry): string => JSON.stringify([id, object, content, bytes])

async function* none(): Round {}
