import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { scanBytes } from '../../src/engine/purge/byte-scan.ts'
import { purgeArchives } from '../../src/engine/purge/purge-archives.ts'
import {
  openPurging,
  purgeMirror,
  type MirrorPurgeOrder,
  type Purging,
  type PurgingParts,
} from '../../src/engine/purge/purging.ts'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import type { PurgeScope } from '../../src/mirror/purge/scope.ts'
import { asChatId } from '../../src/model/ids.ts'
import { indexOf } from './index-of.ts'
import type { PurgeReport } from '../../src/api/answers/archives.ts'

/** A purge in the test's own process, on a mirror that nothing else has open. */
export class PurgeHere {
  readonly purging: Purging

  /** @param folder the data folder, with `mirror.db` in it, and the archives in `archives` */
  constructor(folder: string, more: Partial<PurgingParts> = {}) {
    const kept = new MirrorMaintenance(join(folder, 'mirror.db'))
    const jobs = { 'purge-archives': purgeArchives, 'purge-search': scanBytes }
    const settings = { dataDir: folder, archives: { dir: join(folder, 'archives'), jobs: [] } }
    this.purging = openPurging(settings, {
      executor: { run: (name, input) => jobs[name as 'purge-search'](input as never) },
      archives: { alone: (act) => act(), outOfReach: [] },
      sharing: { sendPurges: () => Promise.resolve() },
      sync: () => Promise.resolve({ changed: 0, added: 0, gone: 0, tookMs: 0, reasons: [] }),
      writer: {
        act: async (act, order) =>
          (act === 'purge'
            ? await purgeMirror(kept, order as MirrorPurgeOrder).finally(() => kept.close())
            : // The mirror has all that the archives have.
              { added: 0, addedChats: 0, found: [], damaged: [] }) as never,
      },
      index: { forgetWords: () => Promise.resolve(indexOf(join(folder, 'mirror.db'), (index) => index.forgetWords())) },
      renewReaders: () => undefined,
      log: () => undefined,
      ...more,
    })
  }

  purge(scope: Partial<PurgeScope>): Promise<PurgeReport> {
    return this.purging.purge(scopeOf(scope), false)
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
