import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { pause } from '../../helpers/wait-until.ts'

/** True if this system reports the open files of a process. */
export const canLook = process.platform === 'linux'

export interface Handle {
  readonly path: string
  /** `r` or `rw`. */
  readonly access: string
}

/** The files below a folder that a process has open at this moment. */
export function openHandles(pid: number, root: string): Handle[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`)
      if (!path.startsWith(root)) return []
      const info = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8')
      const [flags, inode] = [/^flags:\s+(\d+)/m, /^ino:\s+(\d+)/m].map((line) => line.exec(info)?.[1])
      // Path and flags are read separately. The number may belong to another file in between.
      const isOther = inode !== undefined && !path.endsWith(' (deleted)') && inode !== `${statSync(path).ino}`
      if (isOther || flags === undefined) return []
      return [{ path, access: (Number.parseInt(flags, 8) & 3) === 0 ? 'r' : 'rw' }]
    } catch (error) {
      // Closed in the meantime.
      if (error instanceof Error && 'code' in error) return []
      throw error
    }
  })
}

/** Checks the open files of a process again and again, until `stop`. */
export class HandleWatch {
  readonly #seen = new Map<string, number>()
  readonly #watching: Promise<void>
  #isOver = false
  looks = 0

  constructor(pid: number, root: string) {
    this.#watching = this.#watch(pid, root)
  }

  /** @returns how often each file was seen open, as `rw <path>` */
  async stop(): Promise<ReadonlyMap<string, number>> {
    this.#isOver = true
    await this.#watching
    return this.#seen
  }

  async #watch(pid: number, root: string): Promise<void> {
    if (!canLook) return
    while (!this.#isOver) {
      this.looks += 1
      for (const { path, access } of openHandles(pid, root)) {
        const name = `${access} ${path}`
        this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1)
      }
      await pause(3)
    }
  }
}
