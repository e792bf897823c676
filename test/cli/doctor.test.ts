import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/cli/commands/doctor.ts'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { Indexer } from '../helpers/in-process.ts'
import { Paper, run, type Run } from './fake-world.ts'

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

const doctor = (...flags: readonly string[]): Promise<Run> => {
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, '--cursor-home', '']
  return run(['doctor', ...flags, ...places])
}

async function reportOf(): Promise<DoctorReport> {
  return JSON.parse((await doctor('--json')).out) as DoctorReport
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
  const { exitCode, out, err } = await run(['doctor', '--data-dir', shut, '--cursor-user-dir', home.userDir])
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
  const places = ['--cursor-user-dir', home.userDir, '--cursor-home', '']
  const { exitCode, out } = await run(['doctor', '--data-dir', `${indexer.folder}/none`, ...places])
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

test('an unreadable store is shown with the reason', async () => {
  home.close()
  writeFileSync(home.globalPath, 'no database at all'.padEnd(200))
  const { out } = await doctor()
  expect(out).toContain('corrupt: The file is not a SQLite database.')
})

test('control characters in a key are escaped', async () => {
  store.put('bubbleId:a\u001b[31m\u009b:m1', 'no json')
  await indexer.pass()
  const stdout = new Paper(160)
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, '--cursor-home', '']
  await run(['doctor', ...places], undefined, { stdout, env: { NO_COLOR: '1' } })
  expect(stdout.text).toContain('(1 bad-json, such as bubbleId:a\\x1b[31m\\x9b:m1)')
  // eslint-disable-next-line no-control-regex
  expect(stdout.text).not.toMatch(/[\u001b\u009b]/)
})

test('problems come first', async () => {
  fill()
  await indexer.pass()
  const lines = (await doctor()).out.split('\n')
  expect(lines.slice(0, 2)).toEqual([
    'Needs attention',
    `- ${store.path}: 1 row could not be read (1 bad-json, such as bubbleId:torn:t3). Everything else was read.`,
  ])
})

test('places that do not exist are shown in JSON only', async () => {
  fill()
  const nowhere = ['--cursor-user-dir', join(home.root, 'nowhere')]
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, ...nowhere, '--cursor-home', '']
  const ask = (...flags: readonly string[]): Promise<Run> => run(['doctor', ...flags, ...places])
  await indexer.pass()
  const { out } = await ask()
  expect(out.match(/.*nowhere.*/g)).toEqual([expect.stringMatching(/nowhere does not exist\. The settings name it/)])
  const { stores } = JSON.parse((await ask('--json')).out) as DoctorReport
  expect(stores.filter(({ path }) => path.includes('nowhere')).map(({ state }) => state)).toContain('missing')
})

test('a home with stores of all eras has no problems, and the lines fit a terminal', async () => {
  home.remove()
  home = new CursorHome()
  const cursorHome = join(home.root, '.cursor')
  writeAllEras(home, cursorHome)
  const other = new Indexer(home.userDir)
  try {
    other.homes = [cursorHome]
    await other.pass('values')
    const places = ['--data-dir', other.folder, '--cursor-user-dir', home.userDir, '--cursor-home', cursorHome]
    const stdout = new Paper(80)
    const { exitCode, err } = await run(['doctor', ...places], undefined, { stdout, env: { NO_COLOR: '1' } })
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(stdout.text).toMatch(/^No problems: every store was read completely\.\n/)
    expect(stdout.text).not.toMatch(/unknown|deleted|missing/)
    expect(stdout.text.split('\n').filter((line) => line.length > 80)).toEqual([])
    const report = JSON.parse((await run(['doctor', '--json', ...places])).out) as DoctorReport
    expect(report.stores.length).toBeGreaterThan(3)
    expect(report.stores.flatMap(({ unknown, issues }) => [...unknown, ...issues])).toEqual([])
  } finally {
    other.remove()
  }
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
  const cursorHome = join(home.root, '.cursor')
  for (const name of ['one', 'two', 'none']) mkdirSync(join(cursorHome, 'agent-sessions', name), { recursive: true })
  for (const name of ['one', 'two']) writeFileSync(join(cursorHome, 'agent-sessions', name, 'events.jsonl'), '{}')
  const { out } = await run([
    'doctor',
    '--data-dir',
    indexer.folder,
    '--cursor-user-dir',
    '',
    '--cursor-home',
    cursorHome,
  ])
  expect(out.replace(/\s+/g, ' ')).toContain('agent-sessions: 2 folders of an old command line')
})
