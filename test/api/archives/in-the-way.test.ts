import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prune } from '../../../src/api/archives/prune.ts'
import { objectPath } from '../../../src/archive/names.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

// What somebody put into the place of an archived chat.
let archive: ArchiveFolder
let mirror: SeededMirror
/** The file of an archived chat. */
let path: string

beforeEach(async () => {
  archive = new ArchiveFolder()
  mirror = seedMirror()
  const chat = mirror.addChat({ id: 'a', messageCount: 1 })
  mirror.addMessage(chat, { id: 'a-1', position: 0 })
  const { manifest } = await archive.run(mirror.reader)
  path = join(archive.dir, objectPath(manifest.chats[0]?.object ?? ''))
})
afterEach(() => {
  mirror.dispose()
  archive.remove()
})

const running = (): Promise<unknown> => archive.run(mirror.reader)
const toldOf = (place: string) => ({ code: 'archive-folder', message: expect.stringContaining(place) })

test('a folder in the place of an archived chat is reported with its path', async () => {
  rmSync(path)
  mkdirSync(path)
  await expect(running()).rejects.toMatchObject(toldOf(`${path} is a folder`))
})

test('a folder in the place of a temporary file is reported too', async () => {
  rmSync(path)
  mkdirSync(`${path}.tmp`)
  await expect(running()).rejects.toMatchObject(toldOf(`${path}.tmp is a folder`))
})

test('a file in the place of a folder of archived chats is reported with its path', async () => {
  rmSync(dirname(path), { recursive: true })
  writeFileSync(dirname(path), '')
  await expect(running()).rejects.toMatchObject(toldOf(`${dirname(path)} is not a folder`))
})

test.each(['objects', 'a folder in it'])(
  'where %s was moved away and linked, archives were made of which no chat could be read back',
  async (which) => {
    const folder = which === 'objects' ? join(archive.dir, 'objects') : dirname(path)
    const elsewhere = join(archive.root, 'elsewhere')
    renameSync(folder, elsewhere)
    symlinkSync(elsewhere, folder)
    await expect(running()).rejects.toMatchObject(toldOf(`${folder} is not a folder`))
  },
)

test('a folder with the name of an object does not make a finished run fail', async () => {
  const hash = 'ab'.repeat(32)
  mkdirSync(join(archive.dir, objectPath(hash)), { recursive: true })
  const order = { job: 'weekly', keep: { daily: 1, weekly: 0, monthly: 0 }, timeZone: 'UTC' }
  await expect(prune(archive.dir, order, 'nobody')).resolves.toMatchObject({ runs: [] })
  expect(archive.verify().unexpected).toEqual([objectPath(hash)])
})
