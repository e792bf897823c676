import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import { headers } from '../helpers/cursor.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
  chatsIn({ before: '/old/shop', after: '/new/shop', other: '/code/other' })
  await world.sync()
})
afterEach(() => world.remove())

/** A chat in each of these folders, by name, with a subagent. */
function chatsIn(folders: Readonly<Record<string, string>>): void {
  const store = world.home.global()
  for (const [id, path] of Object.entries(folders)) {
    const workspaceIdentifier = { id: 'w', uri: { scheme: 'file', path } }
    const sub = `${id}-sub`
    store.chat(id, { fullConversationHeadersOnly: headers(['m']), workspaceIdentifier, subagentComposerIds: [sub] })
    store.message(id, 'm', { type: 1, text: `said in ${id}` })
    store.chat(sub, { fullConversationHeadersOnly: headers(['s']), subagentInfo: { parentComposerId: id } })
    store.message(sub, 's', { type: 1, text: `told by ${id}` })
  }
}

/** The path of each chat's project, by the first letter of the path. */
async function places(of = world): Promise<Record<string, string | undefined>> {
  const { items: projects } = await of.get<Page<{ id: string; path: string }>>('/api/projects?limit=200')
  const { items } = await of.get<Page<Chat>>('/api/chats?limit=200&subagents=true')
  return Object.fromEntries(
    items.map(({ id, project }) => [id, projects.find((each) => each.id === project?.id)?.path]),
  )
}

const merge = (old: string, target?: string, undo = false): Promise<unknown> =>
  world.post('/api/merges', { old, new: target, undo })
const listed = async (): Promise<unknown> =>
  (await world.get<Page<{ path: string }>>('/api/projects')).items.map(({ path }) => path).toSorted()

const MERGED = {
  after: '/new/shop',
  'after-sub': '/new/shop',
  before: '/new/shop',
  'before-sub': '/new/shop',
  other: '/code/other',
  'other-sub': '/code/other',
}
const UNDONE = { ...MERGED, before: '/old/shop', 'before-sub': '/old/shop' }

test('chats of a folder that moved belong to the new project, later ones too, until the merge is undone', async () => {
  expect(await places()).toEqual(UNDONE)
  expect(await merge('/old/shop', '/new/shop')).toMatchObject({
    old: { path: '/old/shop' },
    new: { name: 'shop', path: '/new/shop' },
    chats: 2,
  })
  expect(await places()).toEqual(MERGED)
  expect(await listed()).toEqual(['/code/other', '/new/shop'])
  chatsIn({ later: '/old/shop' })
  await world.sync()
  expect(await places()).toEqual({ ...MERGED, later: '/new/shop', 'later-sub': '/new/shop' })
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(await merge('shop', undefined, true)).toMatchObject({ old: { path: '/old/shop' }, chats: 4 })
  expect(await places()).toEqual({ ...UNDONE, later: '/old/shop', 'later-sub': '/old/shop' })
  await world.restart()
  expect(await places()).toMatchObject(UNDONE)
})

test('a mirror that is made anew, or put back from before, keeps merges; without user.db an archive has them', async () => {
  const { dataDir } = world.settings
  const without = (...names: readonly string[]): void => {
    for (const name of names)
      for (const end of ['', '-wal', '-shm', '-clean']) rmSync(join(dataDir, name + end), { force: true })
  }
  await merge('/old/shop', '/code/other')
  await merge('/old/shop', '/code/other', true)
  await merge('/old/shop', '/new/shop')
  await world.restart(() => without('mirror.db', 'index.db'))
  await world.sync()
  expect(await places()).toEqual(MERGED)
  await world.restart(() => {
    const db = new Database(world.mirrorPath)
    db.exec(`update projects set belongs_to = null, belongs_how = null`)
    db.close()
  })
  await world.get('/api/status')
  await world.sync()
  expect(await places()).toEqual(MERGED)
  const { name } = await world.post<{ name: string }>('/api/archives')
  await expect
    .poll(async () => (await world.get<{ state: string }>(`/api/archives/${name}`)).state, { timeout: 60_000 })
    .toBe('verified')
  await world.restart(() => without('user.db', 'mirror.db', 'index.db'))
  await world.sync()
  expect(await places()).toEqual(MERGED)
  // What was undone since does not come back with an older archive.
  await merge('/old/shop', undefined, true)
  await world.restart(() => without('mirror.db', 'index.db'))
  await world.sync()
  expect(await places()).toEqual(UNDONE)
  expect(existsSync(join(dataDir, 'user.db'))).toBe(true)
})

test('merges follow each other, and each one is undone alone', async () => {
  await merge('/old/shop', '/new/shop')
  await merge('/new/shop', 'other')
  expect(new Set(Object.values(await places()))).toEqual(new Set(['/code/other']))
  await merge('/new/shop', undefined, true)
  expect(await places()).toEqual(MERGED)
})

test('what fits no project, or several, is refused with what would be right', async () => {
  const refusal = async (...given: Parameters<typeof merge>): Promise<string> =>
    String(await merge(...given).catch((error: unknown) => error))
  expect(await refusal('shop', 'other')).toContain('fits /new/shop; /old/shop')
  expect(await refusal('nowhere', 'other')).toContain('names no project: nowhere. List them with: cursordex projects')
  expect(await refusal('other', '/code/other')).toContain('is the same project')
  expect(await refusal('other')).toContain('must be the name, path or id of a project')
  expect(await refusal('other', undefined, true)).toContain('must name one project')
  await merge('/old/shop', '/new/shop')
  expect(await refusal('/old/shop', 'other')).toContain('/old/shop, which belongs to /new/shop')
  expect(await places()).toEqual(MERGED)
})

test('a project that was merged into an excluded one is excluded', async () => {
  await merge('/old/shop', '/new/shop')
  const { dataDir } = world.settings
  await world.restart(() => {
    for (const name of ['mirror.db', 'mirror.db-wal', 'mirror.db-shm', 'mirror.db-clean', 'index.db'])
      rmSync(join(dataDir, name), { force: true })
  })
  await world.restart()
  const other = await World.open({ home: world.home, dataDir, config: { exclude: { projects: ['/new/shop'] } } })
  await other.sync()
  expect(Object.keys(await places(other))).toEqual(['other', 'other-sub'])
  await other.close()
})

test('a repository that was merged into a working tree of its own leaves no chat without a project', async () => {
  const tree = '/home/u/.cursor/worktrees/shop/x1y'
  chatsIn({ tree })
  await world.sync()
  await merge('/old/shop', '/code/other')
  await merge('/new/shop', '/code/other')
  chatsIn({ later: tree })
  await world.sync()
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(Object.values(await places())).not.toContain(undefined)
})
