import { isNewer, type ChatEntry, type SealedManifest } from '../../archive/manifest.ts'
import { readManifest } from './manifest-files.ts'
import { readEntry, readObjects, type FoundRuns, type ReadChat } from './open-run.ts'
import { listObjects } from './purge/read-objects.ts'

/** Chats to be read back together, none of them twice. */
export type Round = AsyncIterable<ReadChat>

/** Where the newest state of a chat is named. */
interface Newest {
  readonly run: string
  readonly revision: number
}

/** So many damaged manifests are told with what is wrong. */
const TOLD_MAX = 3

/**
 * All that the runs of a folder name: of each chat the newest state that each mirror archived and that is whole, and,
 * where a manifest is damaged and nobody knows what it named, every whole object that no other names. Never holds more
 * than one manifest, for there may be many and each may be long.
 */
export class AllRuns {
  readonly #dir: string
  readonly #names: readonly string[]
  readonly #damaged = new Map<string, string>()
  /** Of chats that were not what their run says. */
  readonly #bad = new Set<string>()
  #done = 0
  #total = 0

  constructor({ dir, names }: FoundRuns) {
    this.#dir = dir
    this.#names = names
  }

  /** What is wrong with manifests, of which runs; null where all that were read are sound. */
  get why(): string | null {
    const told = [...this.#damaged].slice(0, TOLD_MAX).map(([name, why]) => `${name}: ${why}`)
    if (told.length === 0) return null
    const more = this.#damaged.size - told.length
    return more === 0 ? told.join('; ') : `${told.join('; ')}; and ${more} more`
  }

  /** One after the other: what one brings must be written before the next is read. Many are empty, so that others get a turn. */
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
      // Of a chat whose newest state is damaged, the one before comes back.
      wanted = missed
    }
    if (this.#damaged.size > 0) yield* this.#unnamed()
  }

  /** @param wanted keys of the chats that are looked for; null for all */
  #choose(name: string, wanted: ReadonlySet<string> | null, newest: Map<string, Newest>): void {
    const manifest = this.#read(name)
    if (manifest === null) return
    for (const entry of manifest.chats) {
      const key = keyOf(manifest, entry)
      if (wanted?.has(key) === false || this.#bad.has(stateOf(entry))) continue
      const rival = newest.get(key)
      // A revision counts within one mirror, and says what no clock can. Of equal ones the newest run's is taken.
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

/** A chat of one mirror. */
const keyOf = ({ origin }: Pick<SealedManifest, 'origin'>, { id }: ChatEntry): string => JSON.stringify([origin, id])

const stateOf = ({ id, object, content, bytes }: ChatEntry): string => JSON.stringify([id, object, content, bytes])

async function* none(): Round {}
