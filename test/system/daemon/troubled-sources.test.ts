import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { asOther, giveToOther } from '../../helpers/as-other-user.ts'
import { CursorHome } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, untilState, Workplace, type Status } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const isRoot = process.geteuid?.() === 0

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

/** Starts a daemon on both, as a user whom permissions stop. */
function serveBoth({ place, healthy }: Places): ReturnType<Workplace['serve']> {
  giveToOther(place.cursor.root, place.root, healthy.root)
  return place.serve(['--cursor-user-dir', healthy.userDir], { ...asOther, env: { HOME: place.root } })
}

const stateOf = (status: Status, path: string): string | undefined =>
  status.sources.find((source) => source.path === path)?.state

async function expectOthersGoOn(url: string): Promise<void> {
  await waitUntil('the messages of the other Cursor', async () => ((await getStatus(url)).counts['messages'] ?? 0) >= 2)
}

interface Trouble {
  readonly what: string
  /** Harms the store, which has two chats. */
  readonly harm: (path: string) => void
  readonly state: string
  readonly reason: RegExp
}

const troubles: readonly Trouble[] = [
  {
    what: 'no database',
    harm: (path) => writeFileSync(path, 'this is no database'.repeat(500)),
    state: 'corrupt',
    reason: /^corrupt: /,
  },
  {
    what: 'a file without permissions',
    harm: (path) => chmodSync(path, 0),
    state: 'unreadable',
    reason: /./,
  },
]

test.concurrent.each(troubles)(
  'a store that is $what makes the daemon degraded, the other Cursor is read, and the store too once it is mended',
  async ({ harm, state, reason }) =>
    withPlaces(async (places) => {
      const { place } = places
      const { globalPath } = place.cursor
      const folder = dirname(globalPath)
      mkdirSync(folder, { recursive: true })
      writeFileSync(globalPath, '')
      harm(globalPath)
      const { daemon, url } = await serveBoth(places)
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, globalPath)).toBe(state)
      expect(status.reasons).toEqual([expect.stringMatching(reason)])
      await expectOthersGoOn(url)
      expect(daemon.hasEnded).toBe(false)
      rmSync(folder, { recursive: true, force: true })
      fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 2 })
      giveToOther(place.cursor.root)
      expect(await untilReady(url)).toMatchObject({ reasons: [], counts: { chats: 2 } })
    }),
)

describe.runIf(isRoot).concurrent('a store that belongs to another user', () => {
  test('is refused, no file is created beside it, and it is read once its owner is corrected', () =>
    withPlaces(async (places) => {
      const { place } = places
      const { globalPath } = place.cursor
      const store = place.cursor.global()
      fillStore(store, { chats: 1, messagesPerChat: 2 })
      const folder = dirname(globalPath)
      const names = readdirSync(folder)
      const served = serveBoth(places)
      for (const name of names) chownSync(join(folder, name), 4242, 4242)
      const { url } = await served
      const status = await untilState(url, 'degraded')
      expect(stateOf(status, globalPath)).toBe('refused')
      expect(status.reasons[0]).toMatch(/belongs to user 4242/)
      await expectOthersGoOn(url)
      expect(readdirSync(folder)).toEqual(names)
      giveToOther(folder)
      store.put('noise', 'a change')
      expect(await untilReady(url)).toMatchObject({ reasons: [], counts: { chats: 1 } })
    }))
})

test.concurrent('a store in a read-only folder is read, and no file is created beside it', () =>
  withPlaces(async (places) => {
    const { place } = places
    const store = place.cursor.global()
    fillStore(store, { chats: 1, messagesPerChat: 2 })
    store.close()
    const folder = dirname(place.cursor.globalPath)
    const names = readdirSync(folder)
    chmodSync(folder, 0o555)
    try {
      const { url } = await serveBoth(places)
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

test.concurrent('transcripts without permission were absent from status and sync, and the daemon was ready', () =>
  withPlaces(async ({ place }) => {
    const { root } = place.cursor
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
    place.cursor.workspace('w', { folder: 'file:///home/ada/shop' }, ['chat-0'])
    place.cursor.close()
    mkdirSync(join(root, '.cursor', 'projects', 'shop', 'agent-transcripts'), { recursive: true })
    giveToOther(root, place.root)
    const shut = join(root, '.cursor', 'projects', 'shop')
    const path = join(shut, 'agent-transcripts')
    chmodSync(shut, 0)
    const user = { ...asOther, env: { HOME: place.root } }
    const { url } = await place.serve(['--cursor-home', join(root, '.cursor')], user)
    const status = await untilState(url, 'degraded')
    expect(stateOf(status, path)).toBe('unreadable')
    expect(status.reasons).toEqual([expect.stringContaining(`unreadable: ${path}: EACCES`)])
    const { reasons } = await getJson<Status>(url, '/api/sync', { method: 'POST', body: '{}', headers })
    expect(reasons).toEqual(status.reasons)
    chmodSync(shut, 0o700)
  }))
