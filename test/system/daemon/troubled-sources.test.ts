import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, untilState, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

const isRoot = process.geteuid?.() === 0

/** Any user but root, whom permissions do not stop. */
const SOMEONE = 4242

function giveAway(folder: string): void {
  if (!isRoot) return
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  for (const path of [folder, ...below]) chownSync(path, SOMEONE, SOMEONE)
}

interface Places {
  readonly place: Workplace
  readonly healthy: CursorHome
}

/** Each test has one faulty Cursor and one good one, so that all tests can run at once. */
async function withPlaces(act: (places: Places) => Promise<void>): Promise<void> {
  const places = { place: new Workplace(), healthy: new CursorHome() }
  try {
    fillStore(places.healthy.global(), { chats: 1, messagesPerChat: 2 })
    await act(places)
  } finally {
    await places.place.remove()
    places.healthy.remove()
  }
}

/** Starts a daemon on both. */
const serveBoth = ({ place, healthy }: Places) => place.serve(['--cursor-user-dir', healthy.userDir])

const stateOf = (status: Status, path: string): string | undefined =>
  status.sources.find((source) => source.path === path)?.state

async function expectOthersGoOn(url: string): Promise<void> {
  await waitUntil('the messages of the other Cursor', async () => {
    const { total } = await getJson<{ total: number }>(url, `/api/search?q=${wordOf(0, 1)}`)
    return total === 1
  })
}

describe.concurrent('a store that is not a database', () => {
  test('is corrupt, the daemon is degraded, and the other Cursor is read', () =>
    withPlaces(async ({ place, healthy }) => {
      mkdirSync(dirname(place.cursor.globalPath), { recursive: true })
      writeFileSync(place.cursor.globalPath, 'this is no database'.repeat(500))
      const { url } = await serveBoth({ place, healthy })
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, place.cursor.globalPath)).toBe('corrupt')
      expect(status.reasons).toEqual([expect.stringContaining(`corrupt: ${place.cursor.globalPath}`)])
      await expectOthersGoOn(url)
    }))

  test('is read as soon as a valid one replaces it', () =>
    withPlaces(async ({ place }) => {
      mkdirSync(dirname(place.cursor.globalPath), { recursive: true })
      writeFileSync(place.cursor.globalPath, 'this is no database'.repeat(500))
      const { url } = await place.serve()
      await untilState(url, 'degraded')
      rmSync(place.cursor.globalPath)
      fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 2 })
      expect(await untilReady(url)).toMatchObject({ reasons: [], counts: { chats: 2 } })
    }))

  test('that begins like a database is corrupt too', () =>
    withPlaces(async ({ place, healthy }) => {
      mkdirSync(dirname(place.cursor.globalPath), { recursive: true })
      writeFileSync(
        place.cursor.globalPath,
        Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(9000, 0xa5)]),
      )
      const { url } = await serveBoth({ place, healthy })
      expect(stateOf(await untilState(url, 'degraded'), place.cursor.globalPath)).toBe('corrupt')
      await expectOthersGoOn(url)
    }))
})

describe.runIf(isRoot).concurrent('a store that belongs to another user', () => {
  test('is refused, the daemon is degraded, and no file is created beside it', () =>
    withPlaces(async ({ place, healthy }) => {
      fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
      const folder = dirname(place.cursor.globalPath)
      for (const name of readdirSync(folder)) chownSync(join(folder, name), 4242, 4242)
      const names = readdirSync(folder)
      const { url } = await serveBoth({ place, healthy })
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, place.cursor.globalPath)).toBe('refused')
      expect(status.reasons[0]).toMatch(/belongs to user 4242/)
      await expectOthersGoOn(url)
      expect(readdirSync(folder)).toEqual(names)
    }))

  test('is read seconds after its owner is corrected, without a restart', () =>
    withPlaces(async ({ place }) => {
      const store = place.cursor.global()
      fillStore(store, { chats: 1, messagesPerChat: 2 })
      chownSync(place.cursor.globalPath, 4242, 4242)
      const { url } = await place.serve()
      await untilState(url, 'degraded')
      chownSync(place.cursor.globalPath, 0, 0)
      store.put('noise', 'a change')
      expect(await untilReady(url)).toMatchObject({ reasons: [], counts: { chats: 1 } })
    }))
})

describe.concurrent('a path that cannot even be inspected', () => {
  // A link to itself, which also fails for root.
  test('is unreadable, the daemon continues, and the other Cursor is read', () =>
    withPlaces(async ({ place, healthy }) => {
      mkdirSync(place.cursor.userDir, { recursive: true })
      symlinkSync('globalStorage', join(place.cursor.userDir, 'globalStorage'))
      symlinkSync('workspaceStorage', join(place.cursor.userDir, 'workspaceStorage'))
      const { daemon, url } = await serveBoth({ place, healthy })
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, place.cursor.globalPath)).toBe('unreadable')
      await expectOthersGoOn(url)
      await pause(1200)
      expect(daemon.hasEnded).toBe(false)
      rmSync(join(place.cursor.userDir, 'globalStorage'))
      fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
      expect(await untilReady(url)).toMatchObject({ reasons: [] })
    }))

  test.skipIf(isRoot || process.platform === 'win32')(
    'such as a folder without permissions, is read when it has them',
    () =>
      withPlaces(async ({ place, healthy }) => {
        fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 2 })
        const folder = dirname(place.cursor.globalPath)
        chmodSync(folder, 0o000)
        const { url } = await serveBoth({ place, healthy })
        try {
          expect(stateOf(await untilState(url, 'degraded'), place.cursor.globalPath)).toBe('unreadable')
          await expectOthersGoOn(url)
        } finally {
          chmodSync(folder, 0o700)
        }
        await untilReady(url)
      }),
  )
})

test.concurrent('a store in a read-only folder is read, and no file is created beside it', () =>
  withPlaces(async ({ place }) => {
    const store = place.cursor.global()
    fillStore(store, { chats: 1, messagesPerChat: 2 })
    store.close()
    const folder = dirname(place.cursor.globalPath)
    const names = readdirSync(folder)
    chmodSync(folder, 0o555)
    try {
      const { url } = await place.serve()
      expect(await untilReady(url)).toMatchObject({ counts: { messages: 2 } })
      await getJson(url, '/api/sync', { method: 'POST', body: '{"full":true}', headers })
      expect(readdirSync(folder)).toEqual(names)
    } finally {
      chmodSync(folder, 0o755)
    }
  }))

const headers = { 'content-type': 'application/json' }

test.concurrent('a locked store is busy, and is read when the lock is gone', () =>
  withPlaces(async ({ place, healthy }) => {
    const store = place.cursor.global('delete')
    fillStore(store, { chats: 20, messagesPerChat: 20, textLength: 100_000 })
    store.db.exec('begin exclusive')
    const { url } = await serveBoth({ place, healthy })
    await waitUntil(
      'the source to be busy',
      async () => stateOf(await getStatus(url), place.cursor.globalPath) === 'busy',
    )
    await expectOthersGoOn(url)
    store.db.exec('rollback')
    expect((await untilReady(url)).counts).toMatchObject({ chats: 20, messages: 400 })
  }))

test.concurrent('a store that is moved away and back is missing, then ok again, and no message is lost', () =>
  withPlaces(async ({ place }) => {
    const store = place.cursor.global()
    fillStore(store, { chats: 1, messagesPerChat: 2 })
    store.close()
    const { url } = await place.serve()
    await untilReady(url)
    const { globalPath } = place.cursor
    renameSync(globalPath, `${globalPath}.away`)
    await waitUntil('missing', async () => stateOf(await getStatus(url), globalPath) === 'missing')
    expect(await untilReady(url)).toMatchObject({ counts: { messages: 2 } })
    renameSync(`${globalPath}.away`, globalPath)
    await waitUntil('ok', async () => stateOf(await getStatus(url), globalPath) === 'ok')
    expect(await untilReady(url)).toMatchObject({ reasons: [], counts: { messages: 2, deleted: 0 } })
  }))

test.concurrent('a workspace that is deleted while the daemon runs is forgotten, and the daemon is ready again', () =>
  withPlaces(async ({ place }) => {
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
    place.cursor.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['chat-0']).close()
    const { url } = await place.serve()
    await untilReady(url)
    rmSync(join(place.cursor.userDir, 'workspaceStorage', 'ws1'), { recursive: true })
    // Longer than the polling interval.
    await pause(1500)
    expect(await untilReady(url, 30_000)).toMatchObject({ counts: { projects: 1, chats: 1 } })
  }))

test.skipIf(process.platform === 'win32').each([
  ['one project’s transcripts', '.cursor/projects/shop', '.cursor/projects/shop/agent-transcripts'],
  ['all workspaces', 'Cursor/User/workspaceStorage', 'Cursor/User/workspaceStorage'],
])('%s without permission were absent from status and sync, and the daemon was ready', (_, shut, path) =>
  withPlaces(async ({ place }) => {
    const { root } = place.cursor
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
    place.cursor.workspace('w', { folder: 'file:///home/ada/shop' }, ['chat-0'])
    place.cursor.close()
    mkdirSync(join(root, '.cursor', 'projects', 'shop', 'agent-transcripts'), { recursive: true })
    for (const folder of [root, place.root]) giveAway(folder)
    chmodSync(join(root, shut), 0)
    try {
      const user = { ...(isRoot ? { uid: SOMEONE } : {}), env: { HOME: place.root } }
      const { url } = await place.serve(['--cursor-home', join(root, '.cursor')], user)
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, join(root, path))).toBe('unreadable')
      expect(status.reasons).toEqual([expect.stringContaining(`unreadable: ${join(root, path)}: EACCES`)])
      const { reasons } = await getJson<Status>(url, '/api/sync', { method: 'POST', body: '{}', headers })
      expect(reasons).toEqual(status.reasons)
    } finally {
      chmodSync(join(root, shut), 0o700)
    }
  }),
)
