import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { runPasses } from '../src/engine/writer/run-passes.ts'
import { restore as restoreArchive } from '../src/engine/restore.ts'
import { discoverSources } from '../src/indexer/discover.ts'
import { openReader, openWriter, type Mirror } from '../src/mirror/open.ts'
import { archiveAll, measure, type Cost } from './measured-act.ts'
import { megabytes, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** What it costs to bring everything back into an empty mirror, against reading it out of Cursor; and to do it again. */
export async function restore(shop: Workshop): Promise<void> {
  const store = shop.store()
  const daemon = await shop.startReady(store)
  await shop.tidy()
  const dir = mkdtempSync(join(tmpdir(), 'cursordex-bench-restore-'))
  try {
    const archived = openReader(mirrorPath(daemon.dataDir))
    await archiveAll(archived, dir, () => undefined)
    archived.close()
    const db = openWriter(join(dir, 'restored.db'))
    const [first, restored] = await measure((note) => restoreAll(db, dir, note))
    const [again] = await measure((note) => restoreAll(db, dir, note))
    db.close()
    const fresh = openWriter(join(dir, 'fresh.db'))
    const [ingested] = await measure((note) => ingest(fresh, store.userDir, note))
    fresh.close()
    const line = (what: string, { cpuMs, wallMs, growthBytes }: Cost): string[] => {
      return [what, short(cpuMs), short(wallMs), short(cpuMs / ingested.cpuMs), megabytes(growthBytes)]
    }
    shop.say(`${restored.added} messages in ${restored.chats} chats came back`)
    const rows = [
      line('restored into an empty mirror, all found', first),
      line('restored again, nothing missing', again),
      line('the same read out of Cursor, all found', ingested),
    ]
    shop.say(table(['restore', 'CPU ms', 'ms', 'x ingest (CPU)', 'MB more'], rows))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function restoreAll(db: Mirror, dir: string, note: () => void) {
  const act = restoreArchive({ dir, isOwn: false, name: null, map: {} }, { mirror: () => db, now: Date.now })
  for (;;) {
    const step = await act.next()
    note()
    if (step.done !== true) continue
    pass(db, [], note)
    return step.value
  }
}

function ingest(db: Mirror, userDir: string, note: () => void): void {
  pass(db, [userDir], note)
}

/** Works off, too, what can be read and is not found. */
function pass(db: Mirror, userDirs: readonly string[], note: () => void): void {
  const places = { userDirs, homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth: 'reconcile' as const }))
  const steps = runPasses(db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
  while (steps.next().done !== true) note()
}
