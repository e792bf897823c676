import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Answer } from '../../../src/api/answers/common.ts'
import type { fileHistoryAnswer, filesAnswer } from '../../../src/api/answers/projects.ts'
import { GitRepository } from '../../helpers/git-repository.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

type Files = Answer<typeof filesAnswer>
type History = Answer<typeof fileHistoryAnswer>

const at = (minutes: number): string => new Date(Date.UTC(2026, 2, 10, 12, minutes)).toISOString()

let world: World
let repository: GitRepository
let sha: string
beforeEach(async () => {
  world = await World.open()
  repository = new GitRepository()
  sha = repository.commit({ atMs: Date.parse(at(20)), files: { 'src/a.ts': 'two\n' } })
  const store = world.home.global()
  const call = (chat: string, id: string, minute: number, name: string, input: object, status = 'completed') =>
    store.message(chat, id, {
      type: 2,
      createdAt: at(minute),
      toolFormerData: { name, rawArgs: JSON.stringify(input), status, toolCallId: `${chat}-${id}` },
    })
  const edit = { old_string: 'one\nkept', new_string: 'two\nkept' }
  store.chat('c1', { name: 'Makes it two', fullConversationHeadersOnly: headers(['m1', 'm2', 'm3', 'm4']) })
  call('c1', 'm1', 1, 'search_replace', { file_path: `${repository.root}/src/a.ts`, ...edit })
  call('c1', 'm2', 2, 'read_file', { target_file: 'src/a.ts' })
  call('c1', 'm3', 3, 'write', { file_path: 'src/b.ts', contents: 'x\ny\n' })
  call('c1', 'm4', 4, 'search_replace', { file_path: 'src/a.ts', ...edit }, 'error')
  store.chat('c2', { name: 'Writes it later', fullConversationHeadersOnly: headers(['n1']) })
  call('c2', 'n1', 30, 'edit_file', { target_file: 'src/a.ts', code_edit: '// ... existing code ...\nthree' })
  world.home.workspace('ws', { folder: pathToFileURL(repository.root).href }, ['c1', 'c2'])
  await world.sync()
})
afterEach(async () => {
  await world.remove()
  repository.remove()
})

const filesOf = async (query: string): Promise<unknown[]> =>
  (await world.get<Files>(`/api/files?${query}`)).items.map(({ path, edits, reads, chats, lastEditAt }) => [
    path,
    edits,
    reads,
    chats,
    lastEditAt,
  ])

test('files are listed by their last edit, whether calls name them absolutely or not', async () => {
  const [a, b] = [
    ['src/a.ts', 2, 1, 2, at(30)],
    ['src/b.ts', 1, 0, 1, at(3)],
  ]
  expect(await filesOf('')).toEqual([a, b])
  expect(await filesOf('limit=1&offset=1')).toEqual([b])
  expect(await filesOf('q=SRC/B')).toEqual([b])
  expect(await filesOf(`project=${encodeURIComponent(repository.root)}`)).toEqual([a, b])
  expect(await filesOf('project=nobody')).toEqual([])
  expect(await filesOf('q=%25')).toEqual([])
})

test('the history of a file has each edit with its chat, lines, diff and commits', async () => {
  const project = encodeURIComponent(repository.root)
  const history = await world.get<History>(`/api/files/history?project=${project}&path=src/a.ts`)
  expect(history).toMatchObject({ total: 2, path: 'src/a.ts', project: { name: expect.any(String) } })
  const [newest, oldest] = history.items
  expect(newest).toMatchObject({ chatId: 'c2', at: at(30), tool: 'edit_file', linesAdded: null, commits: [] })
  expect(oldest).toEqual({
    chatId: 'c1',
    messageId: 'm1',
    title: 'Makes it two',
    at: at(1),
    tool: 'search_replace',
    linesAdded: 1,
    linesRemoved: 1,
    diff: '@@\n-one\n+two\n kept',
    deletedInCursor: false,
    commits: [sha],
  })
  const absolute = encodeURIComponent(`${repository.root}/src/a.ts`)
  const same = await world.get<History>(`/api/files/history?project=${project}&path=${absolute}`)
  expect(same.items.map(({ messageId }) => messageId)).toEqual(['n1', 'm1'])
})

test('without a readable history the commits are unknown', async () => {
  rmSync(`${repository.root}/.git`, { recursive: true })
  const project = encodeURIComponent(repository.root)
  const { items } = await world.get<History>(`/api/files/history?project=${project}&path=src/a.ts`)
  expect(items.map(({ commits }) => commits)).toEqual([null, null])
  expect((await world.request('/api/files/history')).status).toBe(400)
})
