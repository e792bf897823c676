import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listRunNames, nameRun, readManifest, writeManifest } from '../../src/api/archives/manifest-files.ts'
import { listObjects } from '../../src/api/archives/purge/read-objects.ts'
import { verifyArchive } from '../../src/api/archives/verify-archive.ts'
import { makeRun } from '../../src/api/archives/make-run.ts'
import { objectPath } from '../../src/archive/names.ts'
import { doTask } from '../../src/engine/purge/do-task.ts'
import type { Purging } from '../../src/engine/purge/purging.ts'
import { emptyBatch } from '../../src/mirror/write/batch.ts'
import { openReader } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { sourceNum } from '../../src/mirror/sources/source-state.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId, asSourceId } from '../../src/model/ids.ts'
import { UserError } from '../../src/model/user-error.ts'
import { CursorHome, headers } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { chatsOf, findBytes, PurgeHere } from '../helpers/purge-world.ts'

const SECRET = 'Quixotic-Vellum-42'
const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9, minute)).toISOString()

let home: CursorHome
let indexer: Indexer
let dir: string

beforeEach(async () => {
  home = new CursorHome()
  const store = home.global()
  for (const id of ['a', 'b']) {
    store.chat(id, { fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
    store.message(id, `${id}1`, { type: 1, text: `first of ${id}: ${SECRET}`, createdAt: at(1) })
    store.message(id, `${id}2`, { type: 2, text: `second of ${id}`, createdAt: at(2) })
  }
  indexer = new Indexer(home.userDir)
  dir = join(indexer.folder, 'archives')
  indexer.pass()
  await archive(1)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

async function archive(second: number): Promise<string> {
  const db = openReader(indexer.path)
  const name = nameRun(dir, Date.UTC(2026, 10, 21, 0, 0, second), null)
  const program = { name: 'cursordex', version: '0', schema: 7 }
  const order = { dir, name, job: null, scope: { q: SECRET }, chats: null, program, now: () => Date.UTC(2026, 10, 21) }
  const steps = makeRun(db, order)
  while ((await steps.next()).done !== true);
  db.close()
  return name
}

function verify() {
  const steps = verifyArchive(dir, 1)
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value
}

function manifests() {
  return listRunNames(dir).map((name) => {
    const read = readManifest(dir, name)
    if (read.kind === 'damaged') throw new Error(read.why)
    return read.value
  })
}

test('archives are rewritten without the text and sealed again', async () => {
  indexer.mirror.close()
  const [before] = manifests()
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET })
  expect(report.archives).toMatchObject({ objects: 2, messages: 2, damaged: [] })
  expect(report.check?.found).toEqual([])
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
  expect(verify()).toMatchObject({ ok: true, damaged: [], unexpected: [], leftovers: [] })
  const [after] = manifests()
  expect(after).toMatchObject({ name: before?.name, chatCount: 2, messageCount: 2, scope: { q: '(purged)' } })
  // Messages that stay keep their exact bytes.
  expect(after?.chats.map(({ messages }) => messages)).toEqual(before?.chats.map(({ messages }) => messages.slice(1)))
  expect(listObjects(dir)).toHaveLength(2)
})

test('a rewritten chat is the same object that the mirror would be archived as', async () => {
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: SECRET })
  const before = listObjects(dir).toSorted()
  // The purge changed the chats, so they are archived again: as the same objects.
  await archive(2)
  expect(listObjects(dir).toSorted()).toEqual(before)
})

test('a message that only an archive still has is found there and kept out', async () => {
  home.global().message('a', 'a1', { type: 1, text: 'said otherwise by now', createdAt: at(1) })
  indexer.pass('full')
  indexer.mirror.close()
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET, ...chatsOf('a') })
  expect(report).toMatchObject({ messages: 0, archives: { objects: 1, messages: 1 } })
  expect(manifests()[0]).toMatchObject({ messageCount: 3 })
  expect(verify()).toMatchObject({ ok: true })
})

test('a chat that is purged as a whole is removed from every archive', async () => {
  indexer.mirror.close()
  const report = await new PurgeHere(indexer.folder).purge(chatsOf('a', 'nobody'))
  expect(report).toMatchObject({ unknownChats: ['nobody'], archives: { objects: 1, messages: 2 } })
  expect(manifests()[0]).toMatchObject({ chatCount: 1, messageCount: 2 })
  expect(verify()).toMatchObject({ ok: true })
  expect(findBytes(indexer.folder, 'second of a')).toEqual([])
})

test('a damaged object is reported, and the others are rewritten', async () => {
  indexer.mirror.close()
  const hash = manifests()[0]?.chats.find(({ id }) => id === 'a')?.object ?? ''
  const path = join(dir, objectPath(hash))
  const bytes = readFileSync(path)
  bytes[bytes.length - 12] = (bytes[bytes.length - 12] ?? 0) ^ 0xff
  writeFileSync(path, bytes)
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET })
  expect(report.archives).toMatchObject({ objects: 1, messages: 1, damaged: [{ kind: 'object', name: hash }] })
  // The search of all files does not claim that nothing is left.
  expect(report.check?.unread).toEqual([expect.stringContaining(hash)])
  expect(await new PurgeHere(indexer.folder).purge(chatsOf('a'))).toMatchObject({
    archives: { objects: 1, damaged: [] },
  })
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})

test('purged rows that another source writes, such as a restore, stay out', async () => {
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ match: SECRET })
  await new PurgeHere(indexer.folder).purge(chatsOf('b'))
  indexer.restart()
  const { mirror } = indexer
  const source = sourceNum(mirror, { id: asSourceId('back'), kind: 'archive', path: '/back', rank: 9 })
  const chats = ['a', 'b', 'c'].map((id) => ({
    id: asChatId(id),
    ownRow: {
      kind: 'read' as const,
      facts: { ...noFacts, name: `Back: ${id}` },
      outline: null,
      embeddedIds: new Set<never>(),
      octets: 1,
    },
    messages: [
      packMessage(draftOf(`${id}1`, 'other words under the same id')),
      packMessage(draftOf('other-id', `first of a: ${SECRET}`)),
      packMessage(draftOf(`${id}2`, `second of ${id}`)),
    ],
    vanished: [],
  }))
  writeBatch(mirror, { ...emptyBatch, source, nowMs: Date.UTC(2026, 10, 22), chats })
  expect(mirror.prepare('select id from chats order by id').pluck().all()).toEqual(['a', 'c'])
  expect(indexer.thread('a').map(([, , text]) => text)).toEqual(['second of a', 'second of a'])
  expect(
    indexer
      .thread('c')
      .map(([, , text]) => text)
      .sort(),
  ).toEqual(['other words under the same id', 'second of c'])
  mirror.close()
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})

test('a run that left out a chat does not name it after its purge', async () => {
  const [name = ''] = listRunNames(dir)
  const read = readManifest(dir, name)
  if (read.kind === 'damaged') throw new Error(read.why)
  const { sha256: _, ...manifest } = read.value
  const leftOut = ['a', 'b'].map((id) => ({ id, why: 'it is too long' }))
  await writeManifest(dir, { ...manifest, leftOut })
  await new PurgeHere(indexer.folder).purge(chatsOf('a'))
  expect(readManifest(dir, name)).toMatchObject({ value: { leftOut: [{ id: 'b', why: 'it is too long' }] } })
  await new PurgeHere(indexer.folder).purge(chatsOf('b'))
  expect(readManifest(dir, name)).not.toHaveProperty('value.leftOut')
})

test('an archive with the text in its scope only is reported as rewritten', async () => {
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge(chatsOf('a', 'b'))
  const report = await new PurgeHere(indexer.folder).purge({ match: SECRET })
  expect(report).toMatchObject({ archives: { objects: 0, runs: listRunNames(dir) }, check: { found: [] } })
})

const unwritable: Pick<ConstructorParameters<typeof Purging>[1], 'doTask'> = {
  doTask: (async (given: never, order: never) => {
    if (given === 'rewrite') throw new UserError('fault', "EACCES: permission denied, open '.lock'", 'Try again.')
    return doTask({ task: given, order })
  }) as never,
}

test('if the archives cannot be written, the error says what is removed and what is not, and the next start finishes it', async () => {
  indexer.mirror.close()
  const purged = new PurgeHere(indexer.folder, unwritable).purge({ match: SECRET })
  await expect(purged).rejects.toThrow(
    /^Half of the purge is done\. 2 messages of 2 chats, .* are removed .* archives may still contain .*EACCES.* next start of the daemon\.$/,
  )
  indexer.restart()
  expect(indexer.thread('a').map(([id]) => id)).toEqual(['a2'])
  indexer.mirror.close()
  expect(findBytes(indexer.folder, SECRET)).not.toEqual([])
  await new PurgeHere(indexer.folder).purging.resume()
  // The next start does not know the text, and so does not find it in the scopes of runs.
  expect(findBytes(indexer.folder, SECRET)).toEqual([expect.stringMatching(/^archives.runs/)])
})
