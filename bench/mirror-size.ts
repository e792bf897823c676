import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { measureTermsBytes } from '../src/api/queries/measure-mirror.ts'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader, type Mirror } from '../src/mirror/open.ts'
import type { Part } from '../src/model/part.ts'
import { searchColumns } from '../src/text/terms/columns.ts'
import { megabytes, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** When everything can be found, the daemon still merges the full-text rows. */
const REST_MS = 10_000

const DICTIONARY_BYTES = `select sum(pgsize) from dbstat where name = 'terms' and aggregate = true`

/** Size of the mirror on disk, compared with its searchable text. */
export async function mirrorSize(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  await sleep(REST_MS)
  const path = mirrorPath(daemon.dataDir)
  const mirror = openReader(path)
  const text = measureText(mirror)
  const terms = measureTermsBytes(mirror)
  const dictionary = mirror.prepare<[], number>(DICTIONARY_BYTES).pluck().get() ?? 0
  mirror.close()
  // A stopped daemon has checkpointed its WAL.
  await shop.tidy()
  const line = (what: string, bytes: number): string[] => [what, megabytes(bytes), short(bytes / text)]
  const rows = [
    line('floor: text that can be found', text),
    line('mirror', statSync(path).size),
    line('full-text tables in it', terms),
    line('list of terms beside them', dictionary),
    line('both', terms + dictionary),
    line("Cursor's store", statSync(shop.store().path).size),
  ]
  shop.say(table(['size', 'MB', 'x floor'], rows))
}

/** Bytes of the text that can be found. Reads all bodies. */
export function measureText(mirror: Mirror): number {
  let bytes = 0
  for (const parts of mirror.prepare<[], string>('select parts from bodies').pluck().iterate()) {
    const { columns } = searchColumns(JSON.parse(parts) as Part[])
    for (const text of Object.values(columns)) bytes += Buffer.byteLength(text)
  }
  return bytes
}
