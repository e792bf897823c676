import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/cli/commands/doctor.ts'
import { actAsOther } from '../helpers/as-other-user.ts'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'
import { run } from './fake-world.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
let cursorHome: string

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  cursorHome = join(home.root, '.cursor')
  mkdirSync(cursorHome)
  indexer = new Indexer(home.userDir)
  indexer.homes = [cursorHome]
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

function addChat(to: Store, id: string, ...texts: readonly string[]): void {
  const ids = texts.map((_, at) => `${id}-${at}`)
  to.chat(id, { name: id, createdAt: 1, fullConversationHeadersOnly: headers(ids) })
  for (const [at, text] of texts.entries()) to.message(id, `${id}-${at}`, { type: 1 + (at % 2), text })
}

function addTranscript(slug: string, name = 'agent.jsonl'): string {
  const path = join(cursorHome, 'projects', slug, 'agent-transcripts', name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '{"role":"user","message":{"content":[{"type":"text","text":"Where does the pool leak?"}]}}\n')
  return path
}

async function doctor(...flags: readonly string[]): Promise<{ readonly text: string; readonly report: DoctorReport }> {
  const places = [
    '--cursor-user-dir',
    home.userDir,
    '--cursor-home',
    cursorHome,
    '--data-dir',
    indexer.folder,
    ...flags,
  ]
  const [{ out, err }, json] = [await run(['doctor', ...places]), await run(['doctor', '--json', ...places])]
  expect(err).toBe('')
  return { text: out, report: JSON.parse(json.out) as DoctorReport }
}

/** The sentences, which the terminal and `--json` must both have. Empty only if the terminal says that all was read. */
async function attention(...flags: readonly string[]): Promise<readonly string[]> {
  const { text, report } = await doctor(...flags)
  expect(text.startsWith('No problems: every store was read completely.\n')).toBe(report.attention.length === 0)
  for (const sentence of report.attention) expect(text).toContain(`- ${sentence}\n`)
  return report.attention
}

test('a store that Cursor set aside is named, and its backup copy is not', async () => {
  const corrupted = `${home.globalPath}.corrupted.1764000000000`
  for (const path of [corrupted, `${corrupted}-wal`, `${home.globalPath}.backup`]) writeFileSync(path, 'no database')
  addChat(store, 'held', 'one')
  await indexer.pass()
  expect(await attention()).toEqual([
    `${corrupted}: Cursor set this file aside, with chats that may be nowhere else. To read them, stop the daemon, copy it to <folder>/User/globalStorage/state.vscdb, run "cursordex sync --cursor-user-dir <folder>/User" and start the daemon again.`,
  ])
})

test('rows that Cursor deleted by writing NULL were said to be unreadable', async () => {
  addChat(store, 'kept', 'one', 'two', 'three')
  addChat(store, 'gone', 'four')
  await indexer.pass()
  store.message('kept', 'kept-1', null)
  store.chat('gone', null)
  store.message('gone', 'gone-0', null)
  store.chat('never-seen', null)
  store.message('never-seen', 'm', null)
  await indexer.pass('keys')
  expect(await attention()).toEqual([])
  const global = (await doctor()).report.stores.find(({ kind }) => kind === 'composer-kv')
  expect(global).toMatchObject({
    chats: { lost: 1 },
    messages: { keptHere: 1 },
    issues: [],
    rows: { total: 8, read: 8, other: 0 },
  })
  expect(indexer.losses().toSorted()).toEqual(['chat gone', 'message kept kept-1'])
})

/** Something that is not read, and the sentence that must say so. What is planted may be more flags. */
const unread: readonly (readonly [symptom: string, plant: () => readonly string[] | void, sentence: RegExp])[] = [
  [
    'a store that appeared after the last sync',
    () => {
      const second = join(home.root, 'second')
      addChat(new CursorHome(second).global(), 'new', 'one')
      return ['--cursor-user-dir', join(second, 'Cursor', 'User')]
    },
    /second.*state\.vscdb: It has not been read yet/,
  ],
  [
    'a workspace’s store that is no database',
    () => {
      mkdirSync(join(home.userDir, 'workspaceStorage', 'w'), { recursive: true })
      writeFileSync(join(home.userDir, 'workspaceStorage', 'w', 'state.vscdb'), 'no database at all'.padEnd(200))
    },
    /w\/state\.vscdb: The store is corrupt: The file is not a SQLite database\./,
  ],
  ['a transcript above the size limit', () => truncateSync(addTranscript('shop'), 40 * 1024 * 1024), /1 too-large/],
  ['a row that is no JSON', () => store.put('bubbleId:a:m', 'no json'), /1 bad-json, such as bubbleId:a:m/],
  [
    'a kind of store that the settings switch off',
    () => {
      addTranscript('shop')
      addTranscript('bakery')
      const path = join(home.root, 'config.json')
      writeFileSync(path, '{"sources":{"transcripts":{"enabled":false}}}')
      return ['--config', path]
    },
    /^Stores of the kind transcripts are not read, because sources\.transcripts\.enabled is false\.$/,
  ],
  [
    'a named folder that does not exist',
    () => ['--cursor-home', join(home.root, 'nowhere')],
    /nowhere does not exist\. The settings name it as a folder of Cursor\./,
  ],
  [
    'a named folder that is not a User folder',
    () => ['--cursor-user-dir', dirname(home.userDir)],
    /^No Cursor chats are in .*Cursor: .* Perhaps you meant .*User/,
  ],
  [
    'rows that a repair of the mirror could not save',
    () => {
      const file = 'mirror-damaged-2026-01-01T000000Z.db'
      writeFileSync(join(indexer.folder, file), '')
      indexer.mirror.exec(`insert into salvages values ('${file}', 1, 2, 3, 4, 5)`)
    },
    /^The mirror was damaged and was replaced .* 5 messages could not be read\./,
  ],
]

test.each(unread)('"every store was read completely" hid %s', async (_, plant, sentence) => {
  addChat(store, 'held', 'one')
  const flags = plant() ?? []
  await indexer.pass()
  expect(await attention(...flags)).toEqual([expect.stringMatching(sentence)])
})

test.skipIf(process.platform === 'win32').each([
  ['a project’s folder of transcripts', '.cursor/projects/shop', /agent-transcripts: The store is unreadable: EACCES/],
  ['all transcripts', '.cursor/projects', /projects: The store is unreadable: EACCES/],
  ['the chats of the command line', '.cursor/chats', /chats: The store is unreadable: EACCES/],
  ['Cursor’s home', '.cursor', /projects: The store is unreadable: EACCES/],
  ['all workspaces', 'Cursor/User/workspaceStorage', /workspaceStorage: The store is unreadable: EACCES/],
  ['one workspace', 'Cursor/User/workspaceStorage/w', /w\/state\.vscdb: The store is unreadable: EACCES/],
  ['the global store', 'Cursor/User/globalStorage', /globalStorage\/state\.vscdb: The store is unreadable: EACCES/],
  ['one transcript', '.cursor/projects/shop/agent-transcripts/agent.jsonl', /1 unreadable-page, such as agent\.jsonl/],
])('"every store was read completely" hid %s without permission', async (_, shut, sentence) => {
  addChat(store, 'held', 'one')
  home.workspace('w', { folder: 'file:///home/ada/shop' }, ['held'])
  home.close()
  addTranscript('shop')
  mkdirSync(join(cursorHome, 'chats'))
  const path = join(home.root, shut)
  chmodSync(path, 0)
  await actAsOther([home.root, indexer.folder], async () => {
    for (const before of ['never read', 'read before']) {
      await indexer.pass('keys')
      const sentences = await attention()
      expect([before, ...sentences]).toContainEqual(expect.stringMatching(sentence))
      chmodSync(path, 0o700)
      await indexer.pass('keys')
      expect(await attention()).toEqual([])
      chmodSync(path, 0)
    }
  }).finally(() => chmodSync(path, 0o700))
})
