import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { objectPath, runPath } from '../../../src/archive/names.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'
import { chatsIn, restoreHere, wordsIn } from '../../helpers/restored-mirror.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

let archive: ArchiveFolder
let mirror: SeededMirror
let empty: OpenMirror

beforeEach(() => {
  archive = new ArchiveFolder()
  mirror = seedMirror()
  empty = new OpenMirror()
})
afterEach(() => {
  archive.remove()
  mirror.dispose()
  empty.remove()
})

function addChat(id: string, of = mirror): number {
  const chat = of.addChat({ id, messageCount: 1 })
  of.addMessage(chat, { id: `${id}-1`, position: 0 })
  return chat
}

/** Adds a message to a chat. */
function goOn(chat: number, id: string): void {
  mirror.addMessage(chat, { id })
  mirror.writer.prepare('update chats set revision = (select max(revision) + 1 from chats) where num = ?').run(chat)
}

/** Flips a bit in the middle of a file. */
function harm(below: string): void {
  const path = join(archive.dir, below)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
  writeFileSync(path, bytes)
}

test('a restore silently skipped a damaged newest archive, and chats that only this one names were missing', async () => {
  addChat('old')
  await archive.run(mirror.reader)
  addChat('new')
  const { manifest } = await archive.run(mirror.reader)
  harm(runPath(manifest.name))
  const restored = await restoreHere(empty.db, archive.dir)
  expect(restored).toMatchObject({ name: manifest.name, why: expect.stringContaining('seal'), addedChats: 2 })
  expect(chatsIn(empty.db)).toEqual(['new', 'old'])
})

test('if the newest archive was of one project, only that was restored, without a warning', async () => {
  addChat('all')
  const shop = addChat('shop')
  await archive.run(mirror.reader)
  goOn(shop, 'shop-2')
  const { manifest } = await archive.run(mirror.reader, { scope: 'shop', chats: [shop] })
  const restored = await restoreHere(empty.db, archive.dir)
  const counts = { chats: 2, messages: 3, added: 3, addedChats: 2 }
  expect(restored).toMatchObject({ name: manifest.name, runs: 2, why: null, damaged: [], ...counts })
  expect(await restoreHere(empty.db, archive.dir)).toMatchObject({ ...counts, added: 0, addedChats: 0 })
})

test('from a folder that two mirrors share, only the chats of the last one were restored', async () => {
  const theirs = seedMirror()
  addChat('ours')
  goOn(addChat('both'), 'both-2')
  theirs.addMessage(addChat('both', theirs), { id: 'both-3' })
  mirror.writer.prepare('update identity set id = ?').run('ours')
  theirs.writer.prepare('update identity set id = ?').run('theirs')
  await archive.run(mirror.reader)
  await archive.run(theirs.reader)
  theirs.dispose()
  const counts = { chats: 2, messages: 3, added: 4, addedChats: 2, damaged: [] }
  expect(await restoreHere(empty.db, archive.dir)).toMatchObject(counts)
  const words = wordsIn(empty.db)
  expect(words.map((line) => line.split(' ')[1])).toEqual(['both-1', 'both-2', 'both-3', 'ours-1'])
  expect(await restoreHere(empty.db, archive.dir)).toMatchObject({ ...counts, added: 0, addedChats: 0 })
  expect(wordsIn(empty.db)).toEqual(words)
})

test('a run under a clock that was years ahead counted as the newest, and later messages were missing', async () => {
  const chat = addChat('a')
  await archive.run(mirror.reader, { name: '20370101T000000Z-manual' })
  goOn(chat, 'a-2')
  await archive.run(mirror.reader)
  expect(await restoreHere(empty.db, archive.dir)).toMatchObject({ chats: 1, messages: 2, added: 2 })
})

test('of a chat whose newest state is damaged nothing came back, though an older archive had it whole', async () => {
  const chat = addChat('a')
  await archive.run(mirror.reader)
  goOn(chat, 'a-2')
  const { manifest } = await archive.run(mirror.reader)
  harm(objectPath(manifest.chats[0]?.object ?? ''))
  const restored = await restoreHere(empty.db, archive.dir)
  expect(restored).toMatchObject({ why: null, damaged: [{ id: 'a' }], chats: 1, added: 1, addedChats: 1 })
})

test('a named archive restores exactly what it names', async () => {
  addChat('first')
  const { manifest } = await archive.run(mirror.reader)
  addChat('second')
  await archive.run(mirror.reader)
  const restored = await restoreHere(empty.db, archive.dir, { name: manifest.name })
  expect(restored).toMatchObject({ name: manifest.name, runs: 1, chats: 1, addedChats: 1 })
  expect(chatsIn(empty.db)).toEqual(['first'])
})
