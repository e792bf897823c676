import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { wipeMirror } from '../../helpers/restored-daemon.ts'
import { getJson, STOP_MS_MAX, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { ArchiveRestored } from '../../../src/api/http/schemas/archives.ts'

const CHATS = 150
const MESSAGES = 20

let place: Workplace

beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

/** Archives all chats, then removes Cursor's store and the mirror. */
async function archiveAndLose(chats = CHATS): Promise<void> {
  const store = place.cursor.global()
  fillStore(store, { chats, messagesPerChat: MESSAGES, textLength: 400 })
  const made = await place.run(['archive', 'run'])
  if (made.exitCode !== 0) throw new Error(made.stderr)
  store.db.exec('delete from cursorDiskKV')
  wipeMirror(place.dataDir)
}

const post = (body: unknown): RequestInit => {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** All events of a stream so far. */
async function listen(url: string, signal: AbortSignal): Promise<{ readonly received: string[] }> {
  const received: string[] = []
  const { body } = await fetch(`${url}/api/events`, { signal })
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const bytes of body ?? []) received.push(decoder.decode(bytes as Uint8Array, { stream: true }))
  }
  read().catch(() => undefined)
  return { received }
}

test('over HTTP a restore answers when everything is searchable, reports progress, and lets new messages in meanwhile', async () => {
  await archiveAndLose()
  const { url } = await place.serve()
  await untilReady(url)
  const ending = new AbortController()
  const { received } = await listen(url, ending.signal)
  const asked = getJson<ArchiveRestored>(url, '/api/archives/newest/restore', post({}))
  const store = place.cursor.global()
  store.chat('live', { fullConversationHeadersOnly: headers(['l1']) })
  store.message('live', 'l1', { type: 1, text: 'the quince is written meanwhile' })
  const restored = await asked
  const total = CHATS * MESSAGES
  expect(restored).toMatchObject({
    ok: true,
    chats: CHATS,
    messages: total,
    added: total,
    addedChats: CHATS,
    damaged: [],
  })
  for (const [chat, message] of [
    [0, 0],
    [CHATS - 1, MESSAGES - 1],
  ] as const) {
    const found = await getJson(url, `/api/search?q=${wordOf(chat, message)}`)
    expect(found).toMatchObject({ total: 1, warnings: [], items: [{ chat: { id: `chat-${chat}` } }] })
  }
  await waitUntil('the new message', async () => {
    const { total: count } = await getJson<{ total: number }>(url, '/api/search?q=quince')
    return count === 1 ? true : null
  })
  const text = received.join('')
  expect(text).toMatch(/event: archive\ndata: {[^}]*"act":"restore"[^}]*"done":\d+/)
  expect(text).toMatch(new RegExp(`"state":"restored"[^}]*"added":${total}`))
  expect(text).not.toContain('event: loss')
  expect(await getJson(url, '/api/losses')).toMatchObject({ total: 0 })
  // Later passes over Cursor do not remove it again.
  const { added, gone } = await getJson<{ added: number; gone: number }>(url, '/api/sync', post({ full: true }))
  expect([added, gone]).toEqual([0, 0])
  expect(await getJson(url, '/api/status')).toMatchObject({ counts: { chats: CHATS + 1 }, archives: { atWork: null } })
  ending.abort()
})

test.each<[path: string, body: unknown, status: number, why: RegExp]>([
  ['newest', { map: { 'Users/a': '/home/b' } }, 400, /"map" is wrong.*not an absolute path/],
  ['newest', { map: { '/a': 5 } }, 400, /map/],
  ['newest', { map: ['/a=/b'] }, 400, /map/],
  ['newest', { from: 'archives' }, 400, /"from" must be the absolute path/],
  ['newest', { form: '/a' }, 400, /form/],
  ['newest', { from: '/nowhere/at/all' }, 404, /There is no archive in/],
  ['newest', { from: '/dev/null' }, 404, /There is no archive in/],
  ['newest', { from: '/a\u0000b' }, 404, /There is no archive in/],
  ['newest', { from: `/${'x'.repeat(300)}` }, 404, /There is no archive in/],
  ['20200101T000000Z-none', {}, 404, /No archive has this name/],
])('a restore of %s with %j is refused with the reason', async (path, body, status, why) => {
  const { url } = await place.serve()
  const response = await fetch(`${url}/api/archives/${path}/restore`, post(body))
  const { detail } = (await response.json()) as { detail: string }
  expect([response.status, detail]).toEqual([status, expect.stringMatching(why)])
})

test('a daemon that is stopped during a restore ends at once, and the next restore continues', async () => {
  // Enough chats that the restore cannot end between two checks.
  const chats = 4 * CHATS
  await archiveAndLose(chats)
  const { daemon, url } = await place.serve()
  await untilReady(url)
  const asked = fetch(`${url}/api/archives/newest/restore`, post({})).catch(() => null)
  await waitUntil(
    'half of the chats',
    async () => {
      const { archives } = await getJson<{ archives: { atWork: { done: number } | null } }>(url, '/api/status')
      return (archives.atWork?.done ?? 0) > chats / 2 ? true : null
    },
    { everyMs: 2 },
  )
  const { exitCode, tookMs } = await daemon.stop()
  await asked
  expect(exitCode).toBe(0)
  expect(tookMs).toBeLessThan(STOP_MS_MAX)
  const rest = await place.run(['archive', 'restore', '--json'])
  const { added, messages } = JSON.parse(rest.stdout) as ArchiveRestored
  expect([added < messages, messages]).toEqual([true, chats * MESSAGES])
  const again = await place.run(['archive', 'restore'])
  expect(again.stdout).toContain('restored 0 chats and 0 messages')
})

test('if all objects are missing, every chat is named', async () => {
  await archiveAndLose()
  const { url } = await place.serve()
  await untilReady(url)
  rmSync(join(place.dataDir, 'archives', 'objects'), { recursive: true })
  const restored = await getJson<ArchiveRestored>(url, '/api/archives/newest/restore', post({}))
  expect(restored).toMatchObject({ ok: false, chats: 0, added: 0, addedChats: 0 })
  expect(restored.damaged).toHaveLength(CHATS)
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
