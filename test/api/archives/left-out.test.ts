import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { archivedChat as archivedChatSchema } from '../../../src/archive/record.ts'
import { openRun } from '../../../src/api/archives/open-run.ts'
import { listRuns } from '../../../src/api/archives/list-runs.ts'
import type { writeObjects as write } from '../../../src/api/archives/object-files.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { archivedChat } from '../../helpers/made-archive.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

/** What happens to packed bytes on their way to the disk. */
const disk = vi.hoisted((): { spoil: ((bytes: Buffer) => Buffer) | null } => ({ spoil: null }))
vi.mock('../../../src/api/archives/object-files.ts', async (importActual) => {
  const actual = await importActual<{ writeObjects: typeof write }>()
  const writeObjects: typeof write = (dir, objects) => {
    const { spoil } = disk
    if (spoil === null) return actual.writeObjects(dir, objects)
    return actual.writeObjects(
      dir,
      objects.map((object) => ({ ...object, members: object.members.map(spoil) })),
    )
  }
  return { ...actual, writeObjects }
})

let folder: ArchiveFolder
let mirror: SeededMirror
const nums = new Map<string, number>()

beforeEach(() => {
  folder = new ArchiveFolder()
  mirror = seedMirror()
  for (const id of ['a', 'b', 'c']) {
    const chat = mirror.addChat({ id, messageCount: 1 })
    nums.set(id, chat)
    mirror.addMessage(chat, { id: `${id}1`, position: 0 })
  }
})
afterEach(() => {
  disk.spoil = null
  folder.remove()
  mirror.dispose()
})

/** What no object can hold. */
function spoilChat(id: string): void {
  mirror.addMessage(nums.get(id) ?? 0, { id: `${id}2`, position: 1, parts: [{ kind: 'spoilt' }] as never })
  mirror.writer
    .prepare('update chats set message_count = 2, revision = (select max(revision) from chats) + 1 where id = ?')
    .run(id)
}

const idsIn = (name: string): string[] => openRun(folder.dir, name).entries?.map(({ id }) => id) ?? []

test('a chat that cannot be archived does not affect the others', async () => {
  spoilChat('b')
  const { manifest } = await folder.run(mirror.reader)
  expect(manifest.chats.map(({ id }) => id).toSorted()).toEqual(['a', 'c'])
  expect(manifest.leftOut).toEqual([{ id: 'b', why: expect.stringMatching(/^line 3, parts/) }])
  expect(folder.verify()).toMatchObject({ ok: true, checked: 3, leftovers: [], unexpected: [] })
  expect(listRuns(folder.dir)).toMatchObject([{ head: { leftOut: manifest.leftOut } }])
  expect(idsIn(manifest.name).toSorted()).toEqual(['a', 'c'])
})

test('the last archived state of a chat that can no longer be archived is in each later run', async () => {
  const before = await folder.run(mirror.reader)
  spoilChat('b')
  for (const run of [await folder.run(mirror.reader), await folder.run(mirror.reader)]) {
    expect(run.manifest.chats.find(({ id }) => id === 'b')).toEqual(before.manifest.chats.find(({ id }) => id === 'b'))
    expect(run.manifest.leftOut).toMatchObject([{ id: 'b' }])
  }
  expect(folder.verify()).toMatchObject({ ok: true, leftovers: [] })
})

test('if the disk returns other bytes than were written, the run fails', async () => {
  disk.spoil = (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)])
  await expect(folder.run(mirror.reader)).rejects.toMatchObject({ code: 'archive-unproven' })
  expect(readdirSync(folder.dir)).not.toContain('runs')
  expect(readdirSync(join(folder.dir, 'objects'))).not.toEqual([])
})

test('a run without failures has no list of chats left out', async () => {
  expect(Object.keys((await folder.run(mirror.reader)).manifest)).not.toContain('leftOut')
})

test('a chat with more than a million messages in its order can be archived', () => {
  const outline = Array.from({ length: 1_000_001 }, () => ({ id: null, role: null, createdAt: null, startedAt: null }))
  expect(archivedChatSchema.safeParse({ ...archivedChat('a'), messageCount: 0, outline }).success).toBe(true)
})
