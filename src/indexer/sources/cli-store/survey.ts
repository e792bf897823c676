import { dirname, join } from 'node:path'
import { closedBy } from '../../open-safely/cursor-file.ts'
import { asChatId } from '../../../model/ids.ts'
import { isPlainName, type FamilySurvey, type Survey, type TableSurvey } from '../../survey.ts'
import { groupStores, listStores, type Place, type StoreFile, type StoreGroup } from './list-stores.ts'
import { piecesOf } from './pieces.ts'
import { countStore, readStore } from './read-store.ts'

/**
 * Examines every store of a folder, or one other store, and reports the number of stores, how many of their blobs a
 * chat reaches, and what could not be read. No name or text of a chat is included.
 */
export function surveyStores(place: Place, path?: string): Survey {
  try {
    const tally = new Tally()
    for (const group of path === undefined ? groupStores(listStores(place)) : [alone(path)]) tally.add(group)
    return { state: 'ok', detail: null, tables: tally.tables }
  } catch (error) {
    const { state, detail } = closedBy(error)
    return { state, detail, tables: [] }
  }
}

function alone(path: string): StoreGroup {
  const file = { key: 'store', path, sidecarPath: join(dirname(path), 'meta.json') }
  return { stores: [{ ...file, chatId: asChatId('store'), folderHash: null, state: '', octets: 0 }], stamp: 0 }
}

interface Count {
  rows: number
  bytes: number
}

class Tally {
  readonly #stores: Count = { rows: 0, bytes: 0 }
  readonly #reached: Count = { rows: 0, bytes: 0 }
  readonly #blobs: Count = { rows: 0, bytes: 0 }
  readonly #foreign = new Map<string, number>()
  #issues = 0

  add(group: StoreGroup): void {
    const results = group.stores.flatMap((store) => {
      this.#count(store)
      const reading = readStore(store)
      if (reading.kind === 'busy') return []
      if (reading.kind === 'read') grow(this.#reached, reading.reached)
      return [{ store, reading }]
    })
    this.#issues += piecesOf(group, results, () => []).length - results.length
  }

  #count({ path, octets }: StoreFile): void {
    grow(this.#stores, { rows: 1, bytes: octets })
    const counted = countStore(path)
    if (counted === null) return
    grow(this.#blobs, counted.blobs)
    for (const name of counted.foreign) this.#foreign.set(name, (this.#foreign.get(name) ?? 0) + 1)
  }

  get tables(): readonly TableSurvey[] {
    const { rows, bytes } = this.#stores
    const left = { rows: this.#blobs.rows - this.#reached.rows, bytes: this.#blobs.bytes - this.#reached.bytes }
    // In the mirror, an issue of one blob is a row of its own, and is counted as such.
    const stores = [
      family('store', 'read', { rows, bytes }),
      family('unread blob', 'read', { rows: this.#issues, bytes: 0 }),
    ]
    const blobs = [family('reached', 'read', this.#reached), family('not reached', 'noise', left)]
    return [
      table('stores', 'rows', { rows: rows + this.#issues, bytes }, stores),
      table('blobs', 'list', this.#blobs, blobs),
      ...[...this.#foreign].map(([name, count]) =>
        table(isPlainName(name) ? name : '<table>', 'unknown', { rows: count, bytes: 0 }, []),
      ),
    ]
  }
}

function grow(sum: Count, { rows, bytes }: Readonly<Count>): void {
  sum.rows += rows
  sum.bytes += bytes
}

const unseen = { nullKeys: 0, unnamedRows: 0, privateRows: 0, isChatLike: false, sampled: 0, shape: {} } as const

const table = (
  name: string,
  use: TableSurvey['use'],
  { rows, bytes }: Readonly<Count>,
  families: readonly FamilySurvey[],
): TableSurvey => ({
  ...unseen,
  name,
  use,
  rows,
  bytes,
  columns: [],
  families: families.filter((each) => each.rows > 0),
})

const family = (name: string, use: FamilySurvey['use'], { rows, bytes }: Readonly<Count>): FamilySurvey => ({
  name,
  use,
  rows,
  bytes,
  nullValues: 0,
  sampled: 0,
  isChatLike: false,
  unknownVersions: [],
  shape: {},
})
