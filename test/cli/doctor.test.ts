import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/cli/commands/doctor.ts'
import { actAsOther } from '../helpers/as-other-user.ts'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'
import { Paper, run, type Run } from './fake-world.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
let cursorHome: string

beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
  cursorHome = join(home.root, '.cursor')
  mkdirSync(cursorHome)
})

const doctor = (flags: readonly string[] = [], ...world: readonly Parameters<typeof run>[2][]): Promise<Run> => {
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, '--cursor-home', cursorHome]
  return run(['doctor', ...places, ...flags], undefined, ...world)
}

async function reportOf(...flags: readonly string[]): Promise<DoctorReport> {
  return JSON.parse((await doctor(['--json', ...flags])).out) as DoctorReport
}

/** The sentences, which the terminal and `--json` must both have. Empty only if the terminal says that all was read. */
async function attention(...flags: readonly string[]): Promise<readonly string[]> {
  const [{ out, err }, report] = [await doctor(flags), await reportOf(...flags)]
  expect(err).toBe('')
  const [first] = report.attention
  expect(out).toMatch(
    first === undefined ? /^No problems: every store was read completely\.\n/ : /^Needs attention\n- /,
  )
  for (const sentence of report.attention) expect(out).toContain(`- ${sentence}\n`)
  return report.attention
}

const globalStore = (report: DoctorReport) => report.stores.find(({ kind }) => kind === 'composer-kv')

/** A complete chat, one with a missing message, a draft, and rows of every kind. */
function fill(): void {
  store.chat('whole', { name: 'W', createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('whole', 'm1', { type: 1, text: 'one' })
  store.message('whole', 'm2', { type: 2, text: 'two' })
  store.message('whole', 'm9', { type: 2, text: 'no longer listed' })
  store.chat('torn', { name: 'T', createdAt: 2, fullConversationHeadersOnly: headers(['t1', 't2', 't3']) })
  store.message('torn', 't1', { type: 1, text: 'one' })
  store.put('bubbleId:torn:t3', 'no json')
  store.chat('draft', { createdAt: 3, fullConversationHeadersOnly: [] })
  store.put('checkpointId:whole:x', { files: [] })
}

test('accounts for every row of a store', async () => {
  fill()
  await indexer.pass()
  const report = await reportOf()
  expect(globalStore(report)).toMatchObject({
    state: 'ok',
    chats: { total: 3, lost: 0 },
    messages: { held: 3, orphans: 1, keptHere: 0 },
    issues: [{ reason: 'bad-json', count: 1, example: 'bubbleId:torn:t3' }],
    rows: { total: 9, read: 7, other: 1 },
    unknown: [],
  })
})

test('an unreadable data folder is an error, and not "no mirror"', async () => {
  const shut = join(home.root, 'shut')
  // Fails like EACCES, but also for root.
  symlinkSync(shut, shut)
  const { exitCode, out, err } = await doctor(['--data-dir', shut])
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
  expect(err).toBe(`${join(shut, 'daemon.json')} cannot be read (ELOOP).\nRun this as the user who owns the folder.\n`)
})

test('a message that was deleted in Cursor counts as still here', async () => {
  fill()
  await indexer.pass()
  store.delete('bubbleId:whole:m2')
  await indexer.pass('keys')
  expect(globalStore(await reportOf())).toMatchObject({ messages: { held: 3, keptHere: 1 } })
})

test('without a mirror the stores are still checked', async () => {
  fill()
  const { exitCode, out } = await doctor(['--data-dir', `${indexer.folder}/none`])
  expect(exitCode).toBe(0)
  expect(out).toContain('There is no mirror yet')
})

test('a mirror of another version is not read', async () => {
  fill()
  await indexer.pass()
  indexer.mirror.pragma('user_version = 99')
  const { exitCode, out } = await doctor()
  expect(exitCode).toBe(0)
  expect(out).toMatch(/The mirror \(.*\) belongs to another version/)
})

test('the doctor neither calls a daemon nor writes to the mirror', async () => {
  fill()
  await indexer.pass()
  const before = indexer.mirror.serialize()
  const { calls } = await doctor()
  expect(calls).toEqual([])
  expect(indexer.mirror.serialize().equals(before)).toBe(true)
})

test('control characters in a key are escaped', async () => {
  store.put('bubbleId:a\u001b[31m\u009b:m1', 'no json')
  await indexer.pass()
  const stdout = new Paper(160)
  await doctor([], { stdout, env: { NO_COLOR: '1' } })
  expect(stdout.text).toContain('(1 bad-json, such as bubbleId:a\\x1b[31m\\x9b:m1)')
  // eslint-disable-next-line no-control-regex
  expect(stdout.text).not.toMatch(/[\u001b\u009b]/)
})

test('places that do not exist are shown in JSON only', async () => {
  fill()
  const nowhere = ['--cursor-user-dir', join(home.root, 'nowhere')]
  await indexer.pass()
  const { out } = await doctor(nowhere)
  expect(out.match(/.*nowhere.*/g)).toEqual([expect.stringMatching(/nowhere does not exist\. The settings name it/)])
  const { stores } = await reportOf(...nowhere)
  expect(stores.filter(({ path }) => path.includes('nowhere')).map(({ state }) => state)).toContain('missing')
})

test('a home with stores of all eras has no problems, and the lines fit a terminal', async () => {
  writeAllEras(home, cursorHome)
  await indexer.pass('values')
  const stdout = new Paper(80)
  const { exitCode, err } = await doctor([], { stdout, env: { NO_COLOR: '1' } })
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  expect(stdout.text).toMatch(/^No problems: every store was read completely\.\n/)
  expect(stdout.text).not.toMatch(/unknown|deleted|missing/)
  expect(stdout.text.split('\n').filter((line) => line.length > 80)).toEqual([])
  const { stores } = await reportOf()
  expect(stores.length).toBeGreaterThan(3)
  expect(stores.flatMap(({ unknown, issues }) => [...unknown, ...issues])).toEqual([])
})

test('while a large deletion waits for confirmation, the doctor says that the store is being compared', async () => {
  fillStore(store, { chats: 20, messagesPerChat: 19 })
  await indexer.pass()
  store.db.exec(`delete from cursorDiskKV where key like '%:chat-_' or key like '%:chat-_:%'`)
  await indexer.pass('keys')
  expect(globalStore(await reportOf())).toMatchObject({ pendingLoss: { rows: 200 }, messages: { keptHere: 0 } })
  const { out } = await doctor()
  expect(out).toMatch(
    /200 of \d+ rows are missing; the store is being compared once more before they count as deleted\./,
  )
  expect(out).not.toContain('counted twice')
  expect(out).toContain('Nothing was lost.')
})

test('the doctor counts the same losses as the ledger', async () => {
  for (const id of ['drops', 'goes', 'orphaned']) {
    const ids = [1, 2, 3].map((at) => `${id}${at}`)
    store.chat(id, { name: id, createdAt: 1, fullConversationHeadersOnly: headers(ids) })
    for (const each of ids) store.message(id, each, { type: 1, text: `Said in ${each}` })
  }
  await indexer.pass()
  store.delete('bubbleId:drops:drops2')
  store.chat('orphaned', { name: 'o', createdAt: 1, fullConversationHeadersOnly: headers(['orphaned1', 'orphaned2']) })
  store.deleteChat('goes')
  await indexer.pass('values')
  expect(indexer.losses().toSorted()).toEqual(['chat goes', 'message drops drops2'])
  const { losses, stores } = await reportOf()
  expect(losses).toMatchObject({ messages: 1, chats: 1 })
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  expect(sum(stores.map(({ messages }) => messages?.keptHere ?? 0))).toBe(1)
  expect(sum(stores.map(({ chats }) => chats?.lost ?? 0))).toBe(1)
  expect((await doctor()).out).toContain('Deleted in Cursor, still here: 1 chat and 1 message.')
})

test('unknown rows are counted by the start of their keys, without any content', async () => {
  const canaries = ['plumcanary', 'lovelace', 'ada@example', '/home/ada', 'ghp_canary']
  const words = 'plumcanary /home/ada/x lovelace ada@example.com ghp_canary'
  for (const key of [words, 'lovelace', 'ada@example.com:x', '/home/ada:x', 'newKv:plumcanary', 'newKv:lovelace']) {
    store.put(key, words)
  }
  store.put('checkpointId:whole:x', words)
  store.item('cursorAuth/accessToken', words)
  store.db.exec('create table "ada@example.com" (words text); create table notes (words text)')
  store.db.prepare('insert into notes values (?)').run(words)
  await indexer.pass()
  expect(globalStore(await reportOf())?.unknown).toEqual([
    { table: 'cursorDiskKV', start: '<id>', rows: 4 },
    { table: 'cursorDiskKV', start: 'newKv:<id>', rows: 2 },
    { table: 'notes', start: null, rows: 1 },
    { table: '<table>', start: null, rows: 0 },
  ])
  const { out } = await doctor()
  expect(out).toMatch(/newKv:<id>: 2 rows that this version does not\s+know/)
  expect(canaries.filter((canary) => out.includes(canary))).toEqual([])
})

test('rows of cloud agents are counted, and not read', async () => {
  store.put('cloudAgent:bc-1', { state: 'x' })
  await indexer.pass()
  expect(globalStore(await reportOf())?.unknown).toEqual([{ table: 'cursorDiskKV', start: 'cloudAgent:<id>', rows: 1 }])
})

test('older trees of the command line are counted, and not read', async () => {
  for (const name of ['one', 'two', 'none']) mkdirSync(join(cursorHome, 'agent-sessions', name), { recursive: true })
  for (const name of ['one', 'two']) writeFileSync(join(cursorHome, 'agent-sessions', name, 'events.jsonl'), '{}')
  expect((await doctor()).out.replace(/\s+/g, ' ')).toContain('agent-sessions: 2 folders of an old command line')
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
  expect(globalStore(await reportOf())).toMatchObject({
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
