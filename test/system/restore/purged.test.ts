import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { secretOf, PurgePlace, wordOf } from '../../helpers/purge-place.ts'
import { findBytes } from '../../helpers/purge-world.ts'
import { getJson, untilReady, type RunOptions } from '../../helpers/spawn-cursordex.ts'
import type { ArchiveRestored } from '../../../src/api/answers/archives.ts'

interface Thread {
  readonly total: number
}

let place: PurgePlace
let stick: string

beforeEach(async () => {
  place = new PurgePlace(3, 4)
  // Its title comes from its text, and Cursor deleted it. Only the archive and the mirror know the title.
  place.store.chat('named', { name: secretOf(0), fullConversationHeadersOnly: headers(['n1']) })
  place.store.message('named', 'n1', { type: 1, text: 'about something else', createdAt: '2026-02-02T00:00:00.000Z' })
  stick = mkdtempSync(join(tmpdir(), 'cursordex-stick-'))
  await mustRun(['archive', 'run'])
  // A copy that no purge reaches.
  cpSync(join(place.dataDir, 'archives'), stick, { recursive: true })
  await mustRun(['purge', '--match', '--yes'], { input: secretOf(0) })
  await mustRun(['purge', '--chat', 'chat-1', '--yes'])
})
afterEach(async () => {
  await place.remove()
  rmSync(stick, { recursive: true, force: true })
})

async function mustRun(argv: readonly string[], options: RunOptions = {}): Promise<void> {
  const { exitCode, stderr } = await place.run(argv, options)
  if (exitCode !== 0) throw new Error(stderr)
}

/** @param from the archive folder. By default the own one */
async function restore(from: readonly string[]): Promise<ArchiveRestored> {
  const { stdout, stderr, exitCode } = await place.run(['archive', 'restore', ...from, '--json'])
  expect([stderr, exitCode]).toEqual(['', 0])
  return JSON.parse(stdout) as ArchiveRestored
}

test('purged messages do not come back from an archive that still has them', async () => {
  // Cursor loses everything, so that whatever comes, comes from the archive.
  place.store.delete('composerData:named')
  place.store.delete('bubbleId:named:n1')
  for (const chat of [0, 1, 2]) {
    place.store.delete(`composerData:chat-${chat}`)
    place.store.delete(`bubbleId:chat-${chat}:s${chat}`)
    for (let message = 0; message < 4; message += 1) place.store.delete(`bubbleId:chat-${chat}:m${chat}-${message}`)
  }
  expect(await restore(['--from', stick])).toMatchObject({ ok: true, added: 0, addedChats: 0 })
  expect(await restore([])).toMatchObject({ ok: true, added: 0, addedChats: 0 })
  expect(findBytes(place.dataDir, secretOf(0))).toEqual([])
  expect(findBytes(place.dataDir, wordOf(1))).toEqual([])
  const { url } = await place.place.serve()
  await untilReady(url)
  expect(await getJson(url, '/api/chats')).toMatchObject({ total: 3 })
  const counts = [0, 2].map((chat) => getJson<Thread>(url, `/api/chats/chat-${chat}/messages`))
  expect((await Promise.all(counts)).map(({ total }) => total)).toEqual([4, 5])
  for (const word of [secretOf(0), wordOf(1)]) {
    expect(await getJson(url, `/api/search?literal=true&q=${word}`)).toMatchObject({ total: 0 })
  }
  expect(await getJson(url, `/api/search?q=${wordOf(2)}`)).toMatchObject({ total: 1 })
})

test('without a purge, the same archive restores everything', async () => {
  const other = new PurgePlace(0)
  try {
    const { stdout, exitCode } = await other.run(['archive', 'restore', '--from', stick, '--json'])
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { ok: true, added: 16, addedChats: 4 }])
    expect(findBytes(other.dataDir, secretOf(0))).not.toEqual([])
  } finally {
    await other.remove()
  }
})
