import type { Manifest } from '../../../src/archive/manifest.ts'
import type { RestoreResult } from '../../../src/engine/restore.ts'
import { Chance } from '../../fuzz/chance.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { harms, onDamagedCopy, type Damage } from '../../helpers/harms.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'
import { restoreHere, stateOf, wordsIn } from '../../helpers/restored-mirror.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'

const CHATS = 6
const MESSAGES = 4

/** The result of a restore. */
export interface Brought extends Pick<RestoreResult, 'why'> {
  readonly damaged: readonly string[]
  readonly words: readonly string[]
}

export type RestoreFolder = (dir: string) => Promise<Brought>

/** Restores into an empty mirror, in this process. */
export const restoreHereFrom: RestoreFolder = async (dir) => {
  const mirror = new OpenMirror()
  try {
    const { why, damaged } = await restoreHere(mirror.db, dir)
    return { why, damaged: damaged.flatMap(({ id }) => id ?? []), words: wordsIn(mirror.db) }
  } finally {
    mirror.remove()
  }
}

/** An archive of a few chats that is damaged and restored again and again. */
export class DamagedRounds {
  readonly #whole = new ArchiveFolder()
  readonly #words: readonly string[]
  readonly #manifest: Manifest

  private constructor(whole: ArchiveFolder, words: readonly string[], manifest: Manifest) {
    this.#whole = whole
    this.#words = words
    this.#manifest = manifest
  }

  static async begin(): Promise<DamagedRounds> {
    const mirror = seedMirror()
    for (let at = 0; at < CHATS; at += 1) {
      const chat = mirror.addChat({ id: `chat-${at}` })
      for (let message = 0; message < MESSAGES; message += 1) mirror.addMessage(chat, { id: `${at}-${message}` })
    }
    const whole = new ArchiveFolder()
    const { manifest } = await whole.run(mirror.reader)
    const rounds = new DamagedRounds(whole, wordsIn(mirror.reader), manifest)
    mirror.dispose()
    return rounds
  }

  /** @returns the faults of the restores, a line each */
  async restore(kind: string, times: number, seed: number, restoreFolder = restoreHereFrom): Promise<string[]> {
    const [, harm] = harms.find(([name]) => name === kind) ?? []
    if (harm === undefined) throw new Error(`there is no harm of the name ${kind}`)
    const bad: string[] = []
    for (let time = 0; time < times; time += 1) {
      const chance = new Chance(seed * 1_000_003 + kind.length * 1000 + time)
      await onDamagedCopy({ dir: this.#whole.dir, manifest: this.#manifest }, harm, chance, async (folder, damage) => {
        const before = stateOf(folder.root)
        const found = this.#judge(await restoreFolder(folder.dir), damage)
        if (stateOf(folder.root).join('\n') !== before.join('\n')) found.push('the archive folder was written to')
        bad.push(...found.map((line) => `${kind}, ${time}: ${line}`))
      })
    }
    return bad
  }

  remove(): void {
    this.#whole.remove()
  }

  #judge({ why, damaged, words }: Brought, damage: Damage): string[] {
    const wanted = this.#words.filter((word) => !damage.chats.includes(word.split(' ')[0] ?? ''))
    const isRunDamaged = damage.runs.length > 0 && damage.chats.length === 0
    return [
      ...wanted.filter((word) => !words.includes(word)).map((word) => `did not come back: ${word}`),
      ...words.filter((word) => !wanted.includes(word)).map((word) => `came, and should not: ${word}`),
      ...damage.chats.filter((id) => !damaged.includes(id)).map((id) => `damaged and not named: ${id}`),
      ...damaged.filter((id) => !damage.chats.includes(id)).map((id) => `named and not damaged: ${id}`),
      ...(isRunDamaged === (why !== null) ? [] : [`of the manifest it says: ${why}`]),
    ]
  }
}
