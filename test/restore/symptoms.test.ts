import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runPath } from '../../src/archive/names.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { chatsIn, restoreHere } from '../helpers/restored-mirror.ts'
import { seedMirror, type SeededMirror } from '../helpers/seed-mirror.ts'

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

function addChat(id: string): number {
  const chat = mirror.addChat({ id, messageCount: 1 })
  mirror.addMessage(chat, { id: `${id}-1`, position: 0 })
  return chat
}

/** Turns a bit in the middle of a run's manifest. */
function harmManifest(name: string): void {
  const path = join(archive.dir, runPath(name))
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
  writeFileSync(path, bytes)
}

test('a restore passed over a damaged newest archive without a word, and what only that named stayed away', async () => {
  addChat('old')
  await archive.run(mirror.reader)
  addChat('new')
  const { manifest } = await archive.run(mirror.reader)
  harmManifest(manifest.name)
  const restored = await restoreHere(empty.db, archive.dir)
  expect(restored).toMatchObject({ name: manifest.name, why: expect.stringContaining('seal'), addedChats: 2 })
  expect(chatsIn(empty.db)).toEqual(['new', 'old'])
})
