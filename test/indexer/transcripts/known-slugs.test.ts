import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import { headers } from '../../helpers/cursor.ts'
import { line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { World } from '../../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

const slugOf = (path: string): string => path.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

function transcript(slug: string, id: string): void {
  writeTranscript(world.cursorHome, slug, `${id}.jsonl`, lines(line('user', said(query(`asked in ${id}`)))))
}

const allChats = async (): Promise<readonly Chat[]> => (await world.get<Page<Chat>>('/api/chats?limit=200')).items

async function namesOf(): Promise<Record<string, string | null>> {
  return Object.fromEntries((await allChats()).map(({ id, project }) => [id, project?.name ?? null]))
}

/** The store lies beside another machine's disk, so no folder of it is here. */
test('transcripts of another disk get their projects from workspaces, lists and other chats', async () => {
  const folders = Array.from({ length: 28 }, (_, at) => `/srv/kim/My Work/${'abc'[at % 3]}.${at}/app_${at}`)
  for (const [at, path] of folders.entries()) {
    for (let chat = 0; chat < 4; chat += 1) transcript(slugOf(path), `t${at}-${chat}`)
    const uri = `file://${encodeURI(path)}`
    // Two of them are named nowhere.
    if (at % 3 === 0 && at < 26) world.home.workspace(`ws${at}`, { folder: uri })
    else if (at < 26) {
      const store = world.home.global()
      const workspaceIdentifier = { id: `ws${at}`, uri: { scheme: 'file', path } }
      store.chat(`c${at}`, { fullConversationHeadersOnly: headers(['m']), workspaceIdentifier })
      store.message(`c${at}`, 'm', { type: 1, text: `asked in c${at}` })
    }
  }
  await world.sync()
  const transcripts = (await allChats()).filter(({ format }) => format === 'transcript')
  const placed = transcripts.filter(({ project }) => project !== null)
  expect([transcripts.length, placed.length]).toEqual([112, 104])
  for (const { id, project, projectSource } of placed) {
    expect([project?.name, projectSource]).toEqual([`app_${id.slice(1).split('-')[0]}`, 'folder-name'])
  }
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('the file of a workspace names its transcripts, and an untitled one is named by its folders', async () => {
  const untitled = join(world.home.root, 'Workspaces', '1748000000000', 'workspace.json')
  mkdirSync(join(untitled, '..'), { recursive: true })
  writeFileSync(untitled, JSON.stringify({ folders: [{ path: '/w/shop' }, { path: 'C:\\w\\site' }] }))
  world.home.workspace('ws1', { workspace: `file://${untitled}` })
  world.home.workspace('ws2', { workspace: 'file:///w/all.code-workspace' })
  transcript(slugOf(untitled), 'a')
  transcript('w-all-code-workspace', 'b')
  transcript('empty-window', 'c')
  await world.sync()
  expect(await namesOf()).toEqual({ a: 'shop, site', b: 'all', c: null })
  rmSync(untitled)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  expect(await namesOf()).toMatchObject({ a: 'shop, site' })
})

test('a name that could be that of two projects gives none', async () => {
  world.home.workspace('ws1', { folder: 'file:///w/my-shop' })
  world.home.workspace('ws2', { folder: 'file:///w/my/shop' })
  transcript('w-my-shop', 'a')
  await world.sync()
  expect(await namesOf()).toEqual({ a: null })
})

test('a folder of Windows is one project in all spellings', async () => {
  const store = world.home.global()
  const uris = ['file:///c%3A/Users/Me/Shop', 'file:///C:/users/me/shop', 'c:\\Users\\ME\\Shop']
  const wsl = [
    'file://wsl%24/Ubuntu/w/site',
    'file://wsl.localhost/Ubuntu/w/site',
    'vscode-remote://wsl%2Bubuntu/w/site',
  ]
  for (const [at, uri] of [...uris, ...wsl].entries()) {
    const id = `c${at}`
    store.chat(id, { fullConversationHeadersOnly: headers(['m']), workspaceIdentifier: { id: 'w', uri } })
    store.message(id, 'm', { type: 1, text: `asked in ${id}` })
  }
  transcript('C-Users-me-Shop', 't')
  await world.sync()
  const chats = await allChats()
  expect(chats.map(({ worktree }) => worktree).filter((each) => each !== null)).toEqual([])
  const ids = new Map<string, string | undefined>(chats.map(({ id, project }) => [id, project?.id]))
  expect(new Set(['c0', 'c1', 'c2', 't'].map((id) => ids.get(id))).size).toBe(1)
  expect(new Set(['c3', 'c4', 'c5'].map((id) => ids.get(id))).size).toBe(1)
  expect((await world.get<Page<object>>('/api/projects')).total).toBe(2)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})
