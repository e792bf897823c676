import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import { headers } from '../helpers/cursor.ts'
import { bytesBelow } from '../helpers/oracle/canaries.ts'
import { World } from '../helpers/world.ts'

let world: World
let root: string
beforeEach(async () => {
  world = await World.open()
  root = world.home.root
})
afterEach(() => world.remove())

/** A linked working tree of git. */
function link(folder: string, repository: string): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, '.git'), `gitdir: ${repository}/.git/worktrees/any\n`)
}

const own = (repository: string, id: string): string => join(root, '.cursor', 'worktrees', repository, id)

/** A chat in each of these folders, by name. */
function chatsIn(folders: Readonly<Record<string, string>>): void {
  const store = world.home.global()
  for (const [id, path] of Object.entries(folders)) {
    const workspaceIdentifier = { id: 'w', uri: { scheme: 'file', path } }
    store.chat(id, { fullConversationHeadersOnly: headers(['m']), workspaceIdentifier })
    store.message(id, 'm', { type: 1, text: `said in ${id}` })
  }
}

async function placesIn(of = world): Promise<Record<string, unknown>> {
  const { items } = await of.get<Page<Chat>>('/api/chats?limit=200')
  const places = items.map(({ id, project, worktree }) => [id, [project?.name ?? null, worktree?.name ?? null]])
  return Object.fromEntries(places) as Record<string, unknown>
}

const app = (): string => join(root, 'app')

test('a chat in a working tree belongs to its repository, also when the folder is gone', async () => {
  link(own('app', 'here'), app())
  link(join(root, 'app-fix'), app())
  mkdirSync(join(root, 'sub', '.git'), { recursive: true })
  chatsIn({
    main: app(),
    here: own('app', 'here'),
    below: join(own('app', 'here'), 'packages', 'a'),
    gone: own('app', 'gone'),
    linked: join(root, 'app-fix'),
    unknown: own('tool', 'x1y'),
    other: own('tool', 'x2y'),
    sub: join(root, 'sub'),
  })
  const expected = {
    main: ['app', null],
    here: ['app', 'here'],
    below: ['app', 'here'],
    gone: ['app', 'gone'],
    linked: ['app', 'app-fix'],
    unknown: ['tool', 'x1y'],
    other: ['tool', 'x2y'],
    sub: ['sub', null],
  }
  await world.sync()
  expect(await placesIn()).toEqual(expected)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  const { items } = await world.get<Page<object>>('/api/search?q=worktree:gone')
  expect(items).toMatchObject([{ chat: { id: 'gone' } }])
  const projects = await world.get<Page<{ name: string }>>('/api/projects')
  expect(projects.items.map(({ name }) => name).toSorted()).toEqual(['app', 'sub', 'tool'])
})

test('a folder of working trees is a project until the repository is known', async () => {
  chatsIn({ first: own('app', 'a1') })
  await world.sync()
  const [before] = (await world.get<Page<{ path: string }>>('/api/projects')).items
  expect(before?.path).toBe(join(root, '.cursor', 'worktrees', 'app'))
  chatsIn({ main: app() })
  await world.sync()
  expect(await placesIn()).toEqual({ first: ['app', 'a1'], main: ['app', null] })
  const { items } = await world.get<Page<{ path: string }>>('/api/projects')
  expect(items.map(({ path }) => path)).toEqual([app()])
  // Now the name could be that of either.
  chatsIn({ twin: join(root, 'elsewhere', 'app') })
  await world.sync()
  expect(await placesIn()).toMatchObject({ first: ['app', 'a1'] })
  expect((await world.get<Page<{ path: string }>>('/api/projects')).items).toHaveLength(3)
})

test.each(['app', '**/app', 'ROOT/app'])(
  'the working trees of a project that %s excludes are excluded',
  async (given) => {
    link(own('app', 'here'), app())
    link(join(root, 'fix'), app())
    const pattern = given.replace('ROOT', root)
    chatsIn({
      main: app(),
      here: own('app', 'here'),
      gone: own('app', 'gone'),
      linked: join(root, 'fix'),
      tool: join(root, 'tool'),
    })
    const other = await World.open({ home: world.home, config: { exclude: { projects: [pattern] } } })
    await other.sync()
    expect(await placesIn(other)).toEqual({ tool: ['tool', null] })
    expect(await other.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
    expect(bytesBelow(join(other.mirrorPath, '..'))).not.toContain('said in here')
    await other.remove()
  },
)

test('twenty harmed files of working trees harm no other chat', async () => {
  const harms = [
    '',
    '\0',
    'gitdir:',
    'gitdir: ',
    'gitdir: x',
    `gitdir: ${'/'.repeat(5000)}`,
    '{"a":1}',
    'gitdir: /.git/worktrees/x',
  ]
  const folders = Array.from({ length: 20 }, (_, at) => {
    const folder = own('app', `w${at}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '.git'), `${harms[at % harms.length]}${'\n'.repeat(Math.floor(at / harms.length))}`)
    return [`chat${at}`, folder] as const
  })
  chatsIn({ main: app(), ...Object.fromEntries(folders) })
  await world.sync()
  expect(Object.values(await placesIn()).filter((place) => (place as string[])[0] === 'app')).toHaveLength(21)
  expect((await world.get<{ issues: object }>('/api/status')).issues).toEqual({})
})
