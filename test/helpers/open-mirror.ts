import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { sourceNum } from '../../src/mirror/sources/source-state.ts'
import { asSourceId } from '../../src/model/ids.ts'

/** An empty mirror in its own folder. */
export class OpenMirror {
  readonly folder = mkdtempSync(join(tmpdir(), 'cursordex-mirror-'))
  readonly path = join(this.folder, 'mirror.db')
  readonly db: Mirror = openWriter(this.path)

  /** @returns the source's number */
  source(kind: string, rank = 0): number {
    return sourceNum(this.db, { id: asSourceId(kind), kind, path: `/${kind}`, rank })
  }

  remove(): void {
    this.db.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
