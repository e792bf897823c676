import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { childrenOf } from '../../helpers/children-of.ts'
import { headers } from '../../helpers/cursor.ts'
import { EventStream } from '../../helpers/event-stream.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { archiveAll, wipeMirror } from '../../helpers/restored-daemon.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { ArchiveRestored, ArchiveRun as Run } from '../../../src/api/answers/archives.ts'

const post = (body: unknown): RequestInit => {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

const faceOf = (url: string) => ({
  get: <Answer>(path: string) => getJson<Answer>(url, path),
  post: <Answer>(path: string, body: unknown = {}) => getJson<Answer>(url, path, post(body)),
})

/** Two chats, one about plums and one about pears. */
function writeTrees(place: Workplace): void {
  const store = place.cursor.global()
  for (const [id, tree] of [
    ['a', 'plum'],
    ['b', 'pear'],
  ] as const) {
    store.chat(id, { name: `Chat ${id}`, fullConversationHeadersOnly: headers([`${id}1`]) })
    store.message(id, `${id}1`, { type: 1, text: `${tree} tree`, createdAt: '2026-02-01T00:00:00.000Z' })
  }
}

const archives = ({ dataDir }: Workplace): string => join(dataDir, 'archives')

/** Overwrites the file that an archive has of a chat. */
function spoilChat(place: Workplace, run: string, chat: string): void {
  const text = readFileSync(join(archives(place), 'runs', `${run}.json`), 'utf8')
  const { chats } = JSON.parse(text) as { chats: { id: string; object: string }[] }
  const object = chats.find(({ id }) => id === chat)?.object ?? ''
  writeFileSync(join(archives(place), 'objects', object.slice(0, 2), `${object}.jsonl.gz`), 'rubbish')
}

describe('over HTTP', () => {
  const place = new Workplace()
  let url: string
  beforeAll(async () => {
    writeTrees(place)
    ;({ url } = await place.serve())
    await untilReady(url)
  })
  afterAll(() => place.remove())

  test('an archive is made, shown, verified, and found damaged', async () => {
    const daemon = faceOf(url)
    const made = await archiveAll(daemon)
    expect(made).toMatchObject({ state: 'verified', scope: null, chats: 2, messages: 2 })
    expect(await daemon.get('/api/archives')).toMatchObject({ items: [made], total: 1, limit: 20, offset: 0 })
    const some = await archiveAll(daemon, { scope: 'plum' })
    expect(some).toMatchObject({ chats: 1, scope: 'plum' })
    const sound = await daemon.post(`/api/archives/${made.name}/verify`)
    expect(sound).toMatchObject({ ok: true, checked: 4, damaged: [] })
    spoilChat(place, made.name, 'b')
    expect(await daemon.post(`/api/archives/${made.name}/verify`)).toMatchObject({ ok: false, damaged: ['b'] })
    const told = await place.run(['archive', 'verify', made.name])
    expect([told.exitCode, told.stdout]).toEqual([1, expect.stringContaining('damaged')])
    const { items } = await daemon.get<{ items: Run[] }>('/api/archives')
    expect(items.map(({ name, state }) => [name, state])).toEqual([
      [some.name, 'verified'],
      [made.name, 'damaged'],
    ])
    expect(await daemon.get('/api/status')).toMatchObject({ archives: { running: null, failed: [] } })
    expect(statSync(join(place.dataDir, 'archives.json')).mode & 0o777).toBe(0o600)
  })

  test.each<[path: string, body: unknown, status: number, why: RegExp]>([
    ['', { scope: 5 }, 400, /must be a search/],
    ['', { scop: 'a' }, 400, /scope/],
    ['/newest/restore', { map: { 'Users/a': '/home/b' } }, 400, /\\"map\\" is wrong.*not an absolute path/],
    ['/newest/restore', { from: 'archives' }, 400, /\\"from\\" must be the absolute path/],
    ['/newest/restore', { from: '/nowhere/at/all' }, 404, /There is no archive in/],
    ['/newest/restore', { from: '/a\u0000b' }, 404, /There is no archive in/],
    ['/newest/restore', { from: `/${'x'.repeat(300)}` }, 404, /There is no archive in/],
    ['/20200101T000000Z-none/restore', {}, 404, /No archive has this name/],
  ])('POST /api/archives%s with %j is refused with the reason', async (path, body, status, why) => {
    const response = await fetch(`${url}/api/archives${path}`, post(body))
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(why)])
  })
})

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

const CHATS = 50
const MESSAGES = 20

/** Archives all chats, then removes Cursor's store and the mirror. */
async function archiveAndLose(): Promise<void> {
  const store = place.cursor.global()
  fillStore(store, { chats: CHATS, messagesPerChat: MESSAGES, textLength: 400 })
  const made = await place.run(['archive', 'run'])
  if (made.exitCode !== 0) throw new Error(made.stderr)
  store.db.exec('delete from cursorDiskKV')
  wipeMirror(place.dataDir)
}

test('over HTTP a restore answers when everything is searchable, reports progress, and lets new messages in meanwhile', async () => {
  await archiveAndLose()
  const { url } = await place.serve()
  await untilReady(url)
  const events = await EventStream.open(url)
  const asked = getJson<ArchiveRestored>(url, '/api/archives/newest/restore', post({}))
  const store = place.cursor.global()
  store.chat('live', { fullConversationHeadersOnly: headers(['l1']) })
  store.message('live', 'l1', { type: 1, text: 'the quince is written meanwhile' })
  const restored = await asked
  const total = CHATS * MESSAGES
  const counts = { chats: CHATS, messages: total, added: total, addedChats: CHATS }
  expect(restored).toMatchObject({ ok: true, ...counts, damaged: [] })
  for (const [chat, message] of [
    [0, 0],
    [CHATS - 1, MESSAGES - 1],
  ] as const) {
    const found = await getJson(url, `/api/search?q=${wordOf(chat, message)}`)
    expect(found).toMatchObject({ total: 1, warnings: [], items: [{ chat: { id: `chat-${chat}` } }] })
  }
  await waitUntil('the new message', async () => {
    const { total: count } = await getJson<{ total: number }>(url, '/api/search?q=quince')
    return count === 1
  })
  expect(events.text).toMatch(/event: archive\ndata: {[^}]*"act":"restore"[^}]*"done":\d+/)
  expect(events.text).toMatch(/"act":"restore","state":"ended"/)
  expect(events.data('loss')).toEqual([])
  expect(await getJson(url, '/api/losses')).toMatchObject({ total: 0 })
  // Later passes over Cursor do not remove it again.
  const { added, gone } = await getJson<{ added: number; gone: number }>(url, '/api/sync', post({ full: true }))
  expect([added, gone]).toEqual([0, 0])
  expect(await getJson(url, '/api/status')).toMatchObject({ counts: { chats: CHATS + 1 }, archives: { atWork: null } })
  await events.close()
})

test('if the source is switched off, nothing is restored, and the error says so', async () => {
  const config = join(place.root, 'config.json')
  writeFileSync(config, '{"sources": {"archive": {"enabled": false}}}')
  const { url } = await place.serve(['--config', config])
  const response = await fetch(`${url}/api/archives/newest/restore`, post({}))
  expect([response.status, await response.text()]).toEqual([
    503,
    expect.stringMatching(/sources.archive.enabled is false/),
  ])
})

test('an archive whose process is killed has failed, and the next one is made', async () => {
  fillStore(place.cursor.global(), { chats: 80, messagesPerChat: 20, textLength: 2000 })
  const { daemon, url } = await place.serve()
  await untilReady(url)
  const begun = await getJson<Run>(url, '/api/archives', post({}))
  const pid = await waitUntil('its process', () => childrenOf(daemon.pid, 'archive')[0], { everyMs: 2 })
  process.kill(pid, 'SIGKILL')
  const failed = await waitUntil('the end of it', async () => {
    const run = await getJson<Run>(url, `/api/archives/${begun.name}`)
    return run.state === 'running' ? null : run
  })
  expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('archive') })
  expect(await archiveAll(faceOf(url))).toMatchObject({ state: 'verified', chats: 80 })
})
