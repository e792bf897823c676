import { copyFileSync, readFileSync } from 'node:fs'
import { CursorHome } from '../cursor.ts'
import { Indexer } from '../in-process.ts'
import { chanceOf, garbage } from './chance.ts'
import { dumpMirror, findFaults } from './dump.ts'
import { keepSound, passOver, withMirror } from './healed.ts'
import { writeChat } from './lossy-home.ts'

/** A mirror whose WAL contains many commits, as at a power cut. */
interface WalMirror {
  readonly home: CursorHome
  readonly main: Buffer
  readonly wal: Buffer
  /** The content of a mirror that never failed. */
  readonly wanted: ReturnType<typeof dumpMirror>
}

export async function fillWal(chats: number): Promise<WalMirror> {
  const home = new CursorHome()
  const store = home.global()
  const indexer = new Indexer(home.userDir)
  for (let chat = 0; chat < 3; chat += 1) writeChat(store, chat, 6)
  await indexer.pass()
  indexer.mirror.pragma('wal_checkpoint(truncate)')
  indexer.mirror.pragma('wal_autocheckpoint = 0')
  for (let chat = 3; chat < chats; chat += 1) {
    writeChat(store, chat, 6)
    await indexer.pass()
  }
  copyFileSync(indexer.path, `${indexer.path}.copy`)
  const [main, wal] = [readFileSync(`${indexer.path}.copy`), readFileSync(`${indexer.path}-wal`)]
  await indexer.pass()
  const wanted = dumpMirror(indexer.mirror)
  indexer.remove()
  return { home, main, wal, wanted }
}

/** The WAL cut off, zeroed or filled with garbage, at a place that depends on the seed. */
export function damageWal(wal: Buffer, seed: number): Buffer {
  const chance = chanceOf(seed)
  const at = Math.floor(chance() * wal.length)
  const length = Math.floor(chance() * 60_000) + 1
  const damaged = Buffer.from(wal)
  if (seed % 3 === 0) return damaged.subarray(0, at)
  if (seed % 3 === 1) damaged.fill(0, at, Math.min(wal.length, at + length))
  else garbage(chance, 60_000).copy(damaged, at, 0, length)
  return damaged
}

/** @returns the problems after reopening and after another pass */
export async function reopen({ home, main, wanted }: WalMirror, wal: Buffer): Promise<string[]> {
  return withMirror({ main, wal }, async (kept) => {
    const before = findFaults(kept.db)
    const notices = keepSound(kept)
    await passOver(kept, home.userDir)
    const isEqual = JSON.stringify(dumpMirror(kept.db)) === JSON.stringify(wanted)
    return [
      ...before,
      ...notices.map(({ text }) => text),
      ...findFaults(kept.db),
      ...(isEqual ? [] : ['it is not what it would be']),
    ]
  })
}
