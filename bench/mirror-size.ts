import { setTimeout as sleep } from 'node:timers/promises'
import Database from '../src/sqlite.ts'
import { bytesOf, megabytes, short, table, type Workshop } from './workshop.ts'

/** When everything can be found, the daemon still merges the full-text rows. */
const REST_MS = 10_000

const FULL_TEXT = `
  select sum(pgsize) from sqlite_schema s join dbstat d on d.name = s.name and d.aggregate = 1
  where s.type = 'table' and (s.name glob 'message_terms_*' or s.name glob 'chat_terms_*')
`

/** Size of the mirror on disk, compared with its searchable text. */
export async function mirrorSize(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  await sleep(REST_MS)
  const { textBytes } = (await daemon.status()).resources
  // A stopped daemon has checkpointed its WAL.
  await daemon.stop()
  const mirror = new Database(daemon.mirrorPath, { readonly: true })
  const fullText = mirror.prepare<[], number>(FULL_TEXT).pluck().get() ?? 0
  mirror.close()
  const line = (what: string, bytes: number): string[] => [what, megabytes(bytes), short(bytes / textBytes)]
  const rows = [
    line("floor: text, by the daemon's own estimate", textBytes),
    line('mirror', bytesOf(daemon.mirrorPath)),
    line('full-text tables in it', fullText),
    line("Cursor's store", bytesOf(shop.store().path)),
  ]
  shop.say(table(['size', 'MB', 'x floor'], rows))
}
