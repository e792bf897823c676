import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../../fuzz/chance.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { harms, onDamagedCopy, type Damage, type Victim } from '../../helpers/harms.ts'
import { archiveAll } from '../../helpers/restored-daemon.ts'
import { stateOf } from '../../helpers/restored-mirror.ts'
import { World } from '../../helpers/world.ts'
import type { ArchiveRestored } from '../../../src/api/answers/archives.ts'

const CHATS = 6
const MESSAGES = 4

/** An archive of a few chats that is damaged and restored again and again. */
export class DamagedRounds {
  readonly #world: World
  readonly #words: readonly string[]
  readonly #whole: Victim

  private constructor(world: World, words: readonly string[], whole: Victim) {
    this.#world = world
    this.#words = words
    this.#whole = whole
  }

  static async begin(): Promise<DamagedRounds> {
    const world = await World.open()
    fillStore(world.home.global(), { chats: CHATS, messagesPerChat: MESSAGES })
    await world.sync()
    const { name } = await archiveAll(world)
    const dir = join(world.settings.dataDir, 'archives')
    const manifest = JSON.parse(readFileSync(join(dir, 'runs', `${name}.json`), 'utf8')) as Victim['manifest']
    return new DamagedRounds(world, await wordsOf(world), { dir, manifest })
  }

  /** @returns the faults of the restores, a line each */
  async restore(kind: string, times: number, seed: number): Promise<string[]> {
    const [, harm] = harms.find(([name]) => name === kind) ?? []
    if (harm === undefined) throw new Error(`there is no harm of the name ${kind}`)
    const bad: string[] = []
    for (let time = 0; time < times; time += 1) {
      const chance = new Chance(seed * 1_000_003 + kind.length * 1000 + time)
      await onDamagedCopy(this.#whole, harm, chance, async (folder, damage) => {
        const before = stateOf(folder.root)
        const found = await this.#restoreFrom(folder.dir, damage)
        if (stateOf(folder.root).join('\n') !== before.join('\n')) found.push('the archive folder was written to')
        bad.push(...found.map((line) => `${kind}, ${time}: ${line}`))
      })
    }
    return bad
  }

  remove(): Promise<void> {
    return this.#world.remove()
  }

  /** Restores into an empty mirror. */
  async #restoreFrom(from: string, damage: Damage): Promise<string[]> {
    const empty = await World.open()
    try {
      const restored = await empty.post<ArchiveRestored>('/api/archives/newest/restore', { from })
      return this.#judge(restored, await wordsOf(empty), damage)
    } finally {
      await empty.remove()
    }
  }

  #judge({ damaged, manifest }: ArchiveRestored, words: readonly string[], damage: Damage): string[] {
    const wanted = this.#words.filter((word) => !damage.chats.includes(word.split(' ')[0] ?? ''))
    const isRunDamaged = damage.runs.length > 0 && damage.chats.length === 0
    return [
      ...wanted.filter((word) => !words.includes(word)).map((word) => `did not come back: ${word}`),
      ...words.filter((word) => !wanted.includes(word)).map((word) => `came, and should not: ${word}`),
      ...damage.chats.filter((id) => !damaged.includes(id)).map((id) => `damaged and not named: ${id}`),
      ...damaged.filter((id) => !damage.chats.includes(id)).map((id) => `named and not damaged: ${id}`),
      ...(isRunDamaged === (manifest !== null) ? [] : [`of the manifest it says: ${manifest}`]),
    ]
  }
}

/** `<chat> <message> <place> <text>` of everything that is held. */
async function wordsOf(world: World): Promise<string[]> {
  const { items } = await world.get<{ items: { id: string }[] }>('/api/chats?limit=200')
  const threads = items.map(async ({ id }) => (await world.thread(id)).map((message) => `${id} ${message.join(' ')}`))
  return (await Promise.all(threads)).flat()
}
