import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { scanBytes } from '../../src/engine/purge/byte-scan.ts'
import { purgeArchives } from '../../src/engine/purge/purge-archives.ts'
import { purgeMirror } from '../../src/engine/purge/purge-mirror.ts'
import { Purging } from '../../src/engine/purge/purging.ts'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from '../../src/engine/purge/purge-mirror.ts'
import type { PurgeScope } from '../../src/mirror/purge/scope.ts'
import { asChatId } from '../../src/model/ids.ts'
import type { PurgeReport } from '../../src/api/http/schemas/purge.ts'

/** A purge in the test's own process, on a mirror that nothing else has open. */
export class PurgeHere {
  readonly purging: Purging
  /** Asks the mirror, as the purge does. */
  readonly mirror: (order: MirrorPurgeOrder) => Promise<MirrorPurgeOutcome>

  /** @param folder the data folder, with `mirror.db` in it, and the archives in `archives` */
  constructor(folder: string, more: Partial<ConstructorParameters<typeof Purging>[0]> = {}) {
    const mirrorPath = join(folder, 'mirror.db')
    this.mirror = (order) => {
      const kept = new MirrorMaintenance(mirrorPath, Date.now)
      try {
        return Promise.resolve(purgeMirror(kept, order, Date.now))
      } finally {
        kept.close()
      }
    }
    this.purging = new Purging({
      dataDir: folder,
      archiveDir: join(folder, 'archives'),
      mirrorPath,
      sync: () => Promise.resolve(),
      mirror: this.mirror,
      alone: (act) => act(),
      restore: () => Promise.resolve(),
      rewriteArchives: purgeArchives,
      searchFiles: scanBytes,
      readers: { shut: () => undefined, reopen: () => undefined },
      renewReaders: () => undefined,
      outOfReach: () => [],
      say: () => undefined,
      ...more,
    })
  }

  purge(scope: Partial<PurgeScope>): Promise<PurgeReport> {
    return this.purging.purge({ scope: scopeOf(scope), isDryRun: false })
  }

  look(scope: Partial<PurgeScope>): Promise<PurgeReport> {
    return this.purging.purge({ scope: scopeOf(scope), isDryRun: true })
  }
}

export const scopeOf = (scope: Partial<PurgeScope>): PurgeScope => ({
  chatIds: null,
  projectUris: null,
  beforeMs: null,
  match: null,
  ...scope,
})

export const chatsOf = (...ids: readonly string[]): Partial<PurgeScope> => ({ chatIds: ids.map(asChatId) })

/** Files in and below a folder that contain this text, also inside gzip; ASCII letters in any case. */
export function findBytes(folder: string, text: string): string[] {
  const needle = Buffer.from(text).toString('latin1').toLowerCase()
  const holds = (bytes: Buffer): boolean => bytes.toString('latin1').toLowerCase().includes(needle)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.flatMap(({ parentPath, name }) => {
    const bytes = readFileSync(join(parentPath, name))
    const unpacked = name.endsWith('.gz') ? gunzipSync(bytes) : Buffer.alloc(0)
    return holds(bytes) || holds(unpacked) ? [join(parentPath, name).slice(folder.length + 1)] : []
  })
}
