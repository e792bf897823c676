import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { keepSound } from '../helpers/guard/healed.ts'
import { PurgeHome } from '../helpers/purge-home.ts'
import { chatsOf } from '../helpers/purge-world.ts'

let home: PurgeHome
beforeEach(() => {
  home = new PurgeHome()
  home.chat('a', ['plum', 'pear'])
  home.chat('b', ['fig', 'quince'])
  home.pass()
})
afterEach(() => home.remove())

/** Nonsense over the first page of a table. */
function spoilTable(table: string): void {
  const [root, size] = home.ask(({ mirror }) => {
    mirror.pragma('wal_checkpoint(truncate)')
    const page = mirror.prepare('select rootpage from sqlite_master where name = ?').pluck().get(table)
    return [Number(page), Number(mirror.pragma('page_size', { simple: true }))] as const
  })
  const path = join(home.folder, 'mirror.db')
  writeFileSync(path, readFileSync(path).fill(0xa5, (root - 1) * size, root * size))
}

/** The notice about the rebuilt mirror. */
function salvaged(): string {
  const kept = new MirrorMaintenance(join(home.folder, 'mirror.db'), Date.now)
  try {
    return keepSound(kept)
      .notices.map(({ text }) => text)
      .join('\n')
  } finally {
    kept.close()
  }
}

test.each(['tombstones', 'purge_salt'])(
  'if a damaged page of %s lets purged chats in again, the notice says so',
  async (table) => {
    await home.purging.purge(chatsOf('a'))
    spoilTable(table)
    expect(salvaged()).toMatch(
      /The damaged file is .*\. Purged chats that Cursor still has may return\. Purge them again\.$/,
    )
    home.pass()
    expect(home.messages('a')).toEqual(['a1', 'a2'])
    await home.purging.purge(chatsOf('a'))
    home.pass()
    expect([home.messages('a'), home.messages('b')]).toEqual([[], ['b1', 'b2']])
  },
)

test('a mirror of which nothing can be read may have lost a purge: the notice says so', () => {
  const path = join(home.folder, 'mirror.db')
  home.ask(({ mirror }) => mirror.pragma('wal_checkpoint(truncate)'))
  writeFileSync(path, readFileSync(path).fill(0xa5, 0, 100))
  expect(salvaged()).toContain('may return')
})

test('the notice of a damaged mirror does not mention purges if nothing was purged or all tombstones were saved', async () => {
  spoilTable('tombstones')
  expect(salvaged()).toMatch(/replaced by a new one\. .*\.db\.$/)
  await home.purging.purge(chatsOf('a'))
  spoilTable('losses')
  expect(salvaged()).not.toContain('purge')
  home.pass()
  expect([home.messages('a'), home.messages('b')]).toEqual([[], ['b1', 'b2']])
})
