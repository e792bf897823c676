import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { objectPath, runPath } from '../../../src/archive/names.ts'
import { readManifest } from '../../../src/api/archives/manifest-files.ts'
import { giveChat } from '../../../src/mirror/machines/write-machines.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { readObject } from '../../../src/api/archives/object-files.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { decodeChat } from '../../helpers/decode-chat.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

let folder: ArchiveFolder
let mirror: SeededMirror

beforeEach(() => {
  folder = new ArchiveFolder()
  mirror = seedMirror()
  for (const id of ['a', 'b', 'c']) {
    const chat = mirror.addChat({ id, messageCount: 2 })
    mirror.addMessage(chat, { id: `${id}1`, position: 0 })
    mirror.addMessage(chat, { id: `${id}2`, position: 1, role: 'assistant' })
  }
})
afterEach(() => {
  folder.remove()
  mirror.dispose()
})

/** As every writer does who changes anything of a chat. */
function change(id: string): void {
  const grow = 'update chats set title = title || 1, revision = (select max(revision) from chats) + 1 where id = ?'
  mirror.writer.prepare(grow).run(id)
}

const objectOf = (manifest: { chats: { id: string; object: string }[] }, id: string): string =>
  manifest.chats.find((chat) => chat.id === id)?.object ?? ''

test('a run contains every chat and is verified', async () => {
  const { manifest, packed } = await folder.run(mirror.reader)
  expect([manifest.chatCount, manifest.messageCount, packed]).toEqual([3, 6, 3])
  expect(folder.files()).toEqual([
    ...manifest.chats.map(({ object }) => objectPath(object)).sort(),
    runPath(manifest.name),
  ])
  const read = readObject(folder.dir, objectOf(manifest, 'b'))
  const chat = read.kind === 'sound' ? decodeChat(read.value) : read
  expect(chat).toMatchObject({ value: { chat: { id: 'b', title: 'Chat b' }, messages: [{ id: 'b1' }, { id: 'b2' }] } })
  expect(folder.verify()).toMatchObject({ ok: true, checked: 4, damaged: [], unexpected: [], leftovers: [] })
})

test('chats of other machines are not archived, even if a scope finds them', async () => {
  const nums = mirror.reader.prepare<[], number>(`select num from chats where id <> 'c'`).pluck().all()
  giveChat(mirror.writer, asChatId('b'), { uuid: 'u-1', name: 'laptop', user: 'ada' })
  const chatsIn = async (chats: readonly number[] | null) =>
    (await folder.run(mirror.reader, { chats })).manifest.chats.map(({ id }) => id)
  expect(await chatsIn(null)).toEqual(['a', 'c'])
  expect(await chatsIn(nums)).toEqual(['a'])
  giveChat(mirror.writer, asChatId('b'), null)
  expect(await chatsIn(null)).toEqual(['a', 'b', 'c'])
})

test('an unchanged chat is not stored twice; a changed one is stored again', async () => {
  const first = await folder.run(mirror.reader)
  const stamp = statSync(join(folder.dir, objectPath(objectOf(first.manifest, 'a')))).mtimeMs
  change('b')
  const second = await folder.run(mirror.reader)
  expect(second.packed).toBe(1)
  expect(objectOf(second.manifest, 'a')).toBe(objectOf(first.manifest, 'a'))
  expect(objectOf(second.manifest, 'b')).not.toBe(objectOf(first.manifest, 'b'))
  expect(statSync(join(folder.dir, objectPath(objectOf(first.manifest, 'a')))).mtimeMs).toBe(stamp)
  expect(folder.files()).toHaveLength(6)
  expect(folder.verify()).toMatchObject({ ok: true, checked: 6 })
})

test('after a run of some chats, the next full run finds them unchanged', async () => {
  const [num = 0] = mirror.reader.prepare<[], number>(`select num from chats where id = 'c'`).pluck().all()
  const some = await folder.run(mirror.reader, { chats: [num], scope: 'words' })
  expect(some.manifest.chats.map(({ id }) => id)).toEqual(['c'])
  expect((await folder.run(mirror.reader)).packed).toBe(2)
})

test('a missing or truncated object is archived again', async () => {
  const { manifest } = await folder.run(mirror.reader)
  rmSync(join(folder.dir, objectPath(objectOf(manifest, 'a'))))
  writeFileSync(join(folder.dir, objectPath(objectOf(manifest, 'b'))), 'short')
  const { packed, mended } = await folder.run(mirror.reader)
  expect([packed, mended]).toEqual([2, ['a', 'b']])
  expect(folder.verify().ok).toBe(true)
})

test('a flipped bit is found and repaired, because each run reads a thirtieth of the objects', async () => {
  const { manifest } = await folder.run(mirror.reader)
  const path = join(folder.dir, objectPath(objectOf(manifest, 'a')))
  const bytes = readFileSync(path)
  bytes[40] = (bytes[40] ?? 0) ^ 4
  writeFileSync(path, bytes)
  let mended: readonly string[] = []
  for (let run = 0; run < 400 && mended.length === 0; run += 1) mended = (await folder.run(mirror.reader)).mended
  expect(mended).toEqual(['a'])
  expect(folder.verify().ok).toBe(true)
})

test('the objects of another mirror are not used as own ones', async () => {
  await folder.run(mirror.reader)
  mirror.writer.exec(`update identity set id = 'another'`)
  expect((await folder.run(mirror.reader)).packed).toBe(3)
})

test('the next run removes the temporary files of an interrupted run, and nothing else', async () => {
  const { manifest } = await folder.run(mirror.reader)
  const left = ['runs/x.json.tmp', `${objectPath(objectOf(manifest, 'a'))}.tmp`]
  for (const path of left) writeFileSync(join(folder.dir, path), 'half')
  writeFileSync(join(folder.dir, 'runs', 'notes.txt'), 'mine')
  expect(folder.verify()).toMatchObject({
    ok: false,
    leftovers: left.toSorted(),
    unexpected: ['runs/notes.txt'],
  })
  await folder.run(mirror.reader)
  expect(left.map((path) => existsSync(join(folder.dir, path)))).toEqual([false, false])
  expect(existsSync(join(folder.dir, 'runs', 'notes.txt'))).toBe(true)
})

test('hostile ids and titles are not used in file names, and are restored unchanged', async () => {
  const ids = ['../../etc/passwd', '', '\u0000\u001b[2J', 'x'.repeat(9000), '__proto__', 'a/b\\c:d\n']
  for (const id of ids) {
    const chat = mirror.addChat({ id, title: `${id}\u202e` })
    const input = JSON.parse('{"__proto__":{"x":1},"ok":[]}') as never
    const tool = {
      kind: 'tool',
      name: id,
      status: 'completed',
      callId: null,
      input,
      output: 'y',
      error: null,
      paths: [id],
    } as const
    mirror.addMessage(chat, { id, parts: [tool, { kind: 'attachment', path: id, text: null }] })
  }
  const { manifest } = await folder.run(mirror.reader)
  expect(manifest.chatCount).toBe(3 + ids.length)
  const again = readManifest(folder.dir, manifest.name)
  expect(again.kind === 'sound' ? again.value.chats.map(({ id }) => id) : again.why).toEqual(['a', 'b', 'c', ...ids])
  expect(folder.files().every((path) => /^(runs|objects\/[0-9a-f]{2})\/[\w.-]+$/.test(path))).toBe(true)
  expect(readObjectText(objectOf(manifest, '__proto__'))).toContain('{"__proto__":{"x":1},"ok":[]}')
  expect(folder.verify().ok).toBe(true)
})

const readObjectText = (hash: string): string => {
  const read = readObject(folder.dir, hash)
  return read.kind === 'sound' ? read.value : read.why
}

// Windows has other rights.
test.skipIf(process.platform === 'win32')('every folder is 0700 and every file 0600', async () => {
  const { manifest } = await folder.run(mirror.reader)
  const [object = ''] = manifest.chats.map((chat) => objectPath(chat.object))
  const modes = ['', 'runs', 'objects', join(object, '..'), object, runPath(manifest.name)].map(
    (path) => statSync(join(folder.dir, path)).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o700, 0o600, 0o600])
})

test.skipIf(process.platform === 'win32')('nothing is written through a link in the folder', async () => {
  const elsewhere = join(folder.root, 'elsewhere')
  mkdirSync(elsewhere)
  mkdirSync(folder.dir)
  symlinkSync(elsewhere, join(folder.dir, 'objects'))
  await expect(folder.run(mirror.reader)).rejects.toMatchObject({ code: 'archive-folder' })
  rmSync(join(folder.dir, 'objects'))
  const { manifest } = await folder.run(mirror.reader)
  const path = join(folder.dir, objectPath(objectOf(manifest, 'a')))
  rmSync(path)
  symlinkSync(join(elsewhere, 'planted'), path)
  symlinkSync(join(elsewhere, 'planted'), `${path}.tmp`)
  expect(folder.verify()).toMatchObject({ ok: false, damaged: ['a'] })
  await folder.run(mirror.reader)
  expect(existsSync(join(elsewhere, 'planted'))).toBe(false)
  expect(folder.verify().ok).toBe(true)
})
