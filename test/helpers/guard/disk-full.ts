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
  #wanted = ''
  #leastPages = 0
  #mostPages = 0

  static async fill(chats: number): Promise<FullDisk> {
    const made = new FullDisk()
    const store = made.home.global()
    fillStore(store, { chats, messagesPerChat: 18, textLength: 300 })
    const kept = made.#open('reference')
    made.#leastPages = Number(kept.db.pragma('page_count', { simple: true }))
    await passOver(kept, made.home.userDir)
    made.#mostPages = Number(kept.db.pragma('page_count', { simple: true }))
    made.#wanted = JSON.stringify(dumpMirror(kept.db))
    kept.close()
    return made
  }

  get pages(): number {
    return this.#mostPages - this.#leastPages
  }

  /**
   * Runs a pass with space for only a part of what it writes, then one with enough space.
   * @returns the problems, and whether the disk was full at all
   */
  async fail(share: number): Promise<{ wrong: string[]; wasFull: boolean }> {
    const kept = this.#open(`mirror-${share}`)
    try {
      kept.db.pragma('synchronous = off')
      kept.db.pragma(`max_page_count = ${this.#leastPages + Math.floor(share * this.pages)}`)
      const wasFull = await this.#isFull(kept)
      const wrong = [...findFaults(kept.db), ...(kept.db.inTransaction ? ['a transaction stands open'] : [])]
      kept.db.prepare('select count(*) from messages').get()
      kept.db.pragma('max_page_count = 1000000')
      await passOver(kept, this.home.userDir)
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
    return new MirrorMaintenance(join(this.#folder, `${name}.db`))
  }

  async #isFull(kept: MirrorMaintenance): Promise<boolean> {
    try {
      await passOver(kept, this.home.userDir)
      return false
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL') return true
      throw error
    }
  }
}
