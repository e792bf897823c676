import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MirrorMaintenance } from '../../../src/engine/writer/maintenance.ts'
import { CursorHome } from '../cursor.ts'
import { fillStore } from '../fill-store.ts'
import { dumpMirror, findFaults } from './dump.ts'
import { passOver } from './healed.ts'

/** A Cursor home, and the content of a mirror of it that never failed. */
export class FullDisk {
  readonly home = new CursorHome()
  readonly #folder = mkdtempSync(join(tmpdir(), 'cursordex-full-'))
  readonly #wanted: string
  readonly #leastPages: number
  readonly #mostPages: number

  constructor(chats: number) {
    const store = this.home.global()
    fillStore(store, { chats, messagesPerChat: 18, textLength: 300 })
    const kept = this.#open('reference')
    this.#leastPages = Number(kept.db.pragma('page_count', { simple: true }))
    passOver(kept, this.home.userDir)
    this.#mostPages = Number(kept.db.pragma('page_count', { simple: true }))
    this.#wanted = JSON.stringify(dumpMirror(kept.db))
    kept.close()
  }

  get pages(): number {
    return this.#mostPages - this.#leastPages
  }

  /**
   * Runs a pass with space for only a part of what it writes, then one with enough space.
   * @returns the problems, and whether the disk was full at all
   */
  fail(share: number): { wrong: string[]; wasFull: boolean } {
    const kept = this.#open(`mirror-${share}`)
    try {
      kept.db.pragma('synchronous = off')
      kept.db.pragma(`max_page_count = ${this.#leastPages + Math.floor(share * this.pages)}`)
      const wasFull = this.#isFull(kept)
      const wrong = [...findFaults(kept.db), ...(kept.db.inTransaction ? ['a transaction stands open'] : [])]
      kept.db.prepare('select count(*) from messages').get()
      kept.db.pragma('max_page_count = 1000000')
      passOver(kept, this.home.userDir)
      const isEqual = JSON.stringify(dumpMirror(kept.db)) === this.#wanted
      return { wrong: [...wrong, ...findFaults(kept.db), ...(isEqual ? [] : ['it is not what it would be'])], wasFull }
    } finally {
      kept.close()
      rmSync(join(this.#folder, `mirror-${share}.db`), { force: true })
    }
  }

  remove(): void {
    this.home.remove()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #open(name: string): MirrorMaintenance {
    return new MirrorMaintenance(join(this.#folder, `${name}.db`), Date.now)
  }

  #isFull(kept: MirrorMaintenance): boolean {
    try {
      passOver(kept, this.home.userDir)
      return false
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL') return true
      throw error
    }
  }
}
