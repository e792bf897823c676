import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeRun, nameRun, type RunOrder, type RunOutcome } from '../../src/api/archives/make-run.ts'
import type { Mirror } from '../../src/mirror/open.ts'

/** A temporary archive folder of one test. */
export class ArchiveFolder {
  readonly root = mkdtempSync(join(tmpdir(), 'cursordex-archive-'))
  readonly dir = join(this.root, 'archives')
  #second = 0

  async run(db: Mirror, more: Partial<RunOrder> = {}): Promise<RunOutcome> {
    this.#second += 1
    const atMs = Date.UTC(2026, 10, 21) + this.#second * 1000
    const name = nameRun(this.dir, atMs, more.job ?? null)
    const program = { name: 'cursordex', version: '0', schema: 4 }
    const order = { dir: this.dir, name, job: null, scope: null, chats: null, program, now: () => atMs, ...more }
    const steps = makeRun(db, order)
    for (;;) {
      const step = await steps.next()
      if (step.done === true) return step.value
    }
  }

  /** Every file below the folder, with slashes, sorted. */
  files(): string[] {
    const entries = readdirSync(this.dir, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => !entry.isDirectory())
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(this.dir.length + 1)).sort()
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
