import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/cli/commands/doctor/doctor-report.ts'
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

test('an empty message in a chat that is one value does not count as lost', async () => {
  const ai = (text: string, id: string): object => ({ type: 'ai', id, rawText: text, text })
  const tab = {
    tabId: 'tab',
    chatTitle: 'A tab',
    bubbles: [{ type: 'user', id: 'q', text: 'a' }, ai('', 'e'), ai('b', 'x')],
  }
  store.item('workbench.panel.aichat.view.aichat.chatdata', { tabs: [tab] })
  const turn = (bubbleId: string, type: number, text: string): object => ({ bubbleId, type, text })
  store.chat('inline', {
    name: 'Inline',
    createdAt: 1,
    conversation: [turn('q', 1, 'a'), turn('e', 2, ''), turn('x', 2, 'b')],
  })
  indexer.pass()
  const { stores } = await reportOf()
  expect(stores.map(({ messages, chats }) => [messages?.gone ?? 0, chats?.incomplete ?? 0])).toEqual(
    stores.map(() => [0, 0]),
  )
  expect((await doctor()).out).toContain('No problems')
})

test('accounts for every row of a store', async () => {
  fill()
  indexer.pass()
  const report = await reportOf()
  expect(globalStore(report)).toMatchObject({
    state: 'ok',
    chats: { total: 3, whole: 1, incomplete: 1, empty: 1 },
    messages: { held: 3, named: 5, gone: 1, unreadable: 1, blank: 0, orphans: 1 },
    issues: [{ reason: 'bad-json', count: 1, example: 'bubbleId:torn:t3' }],
    accounting: { rows: 9, read: 6, orphans: 1, issues: 1, noise: 1, unknown: 0, unaccounted: 0 },
  })
  expect(report.unknownChats).toEqual([])
})

test('a row that has not been read yet is reported as not accounted for', async () => {
  fill()
  indexer.pass()
  store.message('whole', 'm3', { type: 1, text: 'new' })
  expect(globalStore(await reportOf())?.accounting).toMatchObject({ rows: 10, unaccounted: 1 })
  const { out } = await doctor()
  expect(out).toContain('1 row is not accounted for. Run "cursordex sync" and check again.')
})

test('an unreadable data folder is an error, and not "no mirror"', async () => {
  const shut = join(home.root, 'shut')
  // Fails like EACCES, but also for root.
  symlinkSync(shut, shut)
  const { exitCode, out, err } = await run(['doctor', '--data-dir', shut, '--cursor-user-dir', home.userDir])
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
  expect(err).toBe(`${join(shut, 'mirror.db')} cannot be read (ELOOP).\nRun this as the user who owns the folder.\n`)
})

test('a message with an empty row does not count as lost', async () => {
  store.chat('a', { createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('a', 'm1', { type: 1, text: 'one' })
  store.message('a', 'm2', { type: 2, text: '' })
  indexer.pass()
  expect(globalStore(await reportOf())).toMatchObject({
    chats: { whole: 1, incomplete: 0 },
    messages: { gone: 0, blank: 1 },
  })
})

test('a message that was deleted in Cursor counts as still here', async () => {
  fill()
  indexer.pass()
  store.delete('bubbleId:whole:m2')
  indexer.pass('reconcile')
  expect(globalStore(await reportOf())).toMatchObject({ chats: { whole: 1 }, messages: { keptHere: 1, gone: 1 } })
})

test('without a mirror the stores are still checked', async () => {
  fill()
  const places = ['--cursor-user-dir', home.userDir, '--cursor-home', '']
  const { exitCode, out } = await run(['doctor', '--data-dir', `${indexer.folder}/none`, ...places])
  expect(exitCode).toBe(0)
  expect(out).toContain('There is no mirror yet')
  expect(out).toContain('checkpointId:<id> 1 row')
})

test('a mirror of another version is not read', async () => {
  fill()
  indexer.pass()
  indexer.mirror.pragma('user_version = 99')
  const { exitCode, out } = await doctor()
  expect(exitCode).toBe(0)
  expect(out).toMatch(/The mirror \(.*\) belongs to another version/)
})

test('the doctor neither calls a daemon nor writes to the mirror', async () => {
  fill()
  indexer.pass()
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

test('lists, rows and transcripts are compared in both directions', async () => {
  fill()
  indexer.pass()
  const { comparison } = await reportOf()
  expect(comparison?.known).toMatchObject({ rows: 3, transcripts: 0 })
  expect(comparison?.differences).toHaveLength(6)
  expect(comparison?.differences).toContainEqual({ in: 'rows', notIn: 'transcripts', chats: 3 })
})

test('control characters in a key are escaped', async () => {
  store.put('bubbleId:a\u001b[31m\u009b:m1', 'no json')
  indexer.pass()
  const stdout = new Paper(160)
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, '--cursor-home', '']
  await run(['doctor', ...places], undefined, { stdout, env: { NO_COLOR: '1' } })
  expect(stdout.text).toContain('(1 bad-json, such as bubbleId:a\\x1b[31m\\x9b:m1)')
  // eslint-disable-next-line no-control-regex
  expect(stdout.text).not.toMatch(/[\u001b\u009b]/)
})

test('problems come first', async () => {
  fill()
  indexer.pass()
  const lines = (await doctor()).out.split('\n')
  expect(lines.slice(0, 2)).toEqual([
    'Needs attention',
    `- ${store.path}: 1 row could not be read (1 bad-json, such as bubbleId:torn:t3). Everything else was read.`,
  ])
})

test('places that do not exist are shown with --all and in JSON only', async () => {
  fill()
  const nowhere = ['--cursor-user-dir', join(home.root, 'nowhere')]
  const places = ['--data-dir', indexer.folder, '--cursor-user-dir', home.userDir, ...nowhere, '--cursor-home', '']
  const ask = (...flags: readonly string[]): Promise<Run> => run(['doctor', ...flags, ...places])
  indexer.pass()
  const { out } = await ask()
  expect(out.match(/.*nowhere.*/g)).toEqual([expect.stringMatching(/nowhere does not exist\. The settings name it/)])
  expect(out).toMatch(/\d+ places? do(es)? not exist and (is|are) not shown\. "cursordex doctor --all" shows them\./)
  expect((await ask('--all')).out).toContain(join(nowhere[1] ?? '', 'globalStorage'))
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
    other.pass('full')
    const places = ['--data-dir', other.folder, '--cursor-user-dir', home.userDir, '--cursor-home', cursorHome]
    const stdout = new Paper(80)
    const { exitCode, err } = await run(['doctor', ...places], undefined, { stdout, env: { NO_COLOR: '1' } })
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(stdout.text).toMatch(/^No problems: every store was read completely\.\n/)
    expect(stdout.text).not.toMatch(/unknown|deleted|missing|not accounted/)
    expect(stdout.text.split('\n').filter((line) => line.length > 80)).toEqual([])
    const report = JSON.parse((await run(['doctor', '--json', ...places])).out) as DoctorReport
    for (const { messages, accounting, survey, issues } of report.stores) {
      expect({ gone: messages?.gone ?? 0, open: accounting?.unaccounted ?? 0, issues }).toEqual({
        gone: 0,
        open: 0,
        issues: [],
      })
      expect([...(survey?.unknownFamilies ?? []), ...(survey?.unknownTables ?? [])]).toEqual([])
    }
  } finally {
    other.remove()
  }
})

test('while a large deletion waits for confirmation, the doctor says that the store is being compared', async () => {
  fillStore(store, { chats: 20, messagesPerChat: 19 })
  indexer.pass()
  store.db.exec(`delete from cursorDiskKV where key like '%:chat-_' or key like '%:chat-_:%'`)
  indexer.pass('reconcile')
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
  indexer.pass()
  store.delete('bubbleId:drops:drops2')
  store.chat('orphaned', { name: 'o', createdAt: 1, fullConversationHeadersOnly: headers(['orphaned1', 'orphaned2']) })
  store.deleteChat('goes')
  indexer.pass('full')
  expect(indexer.losses().toSorted()).toEqual(['chat goes', 'message drops drops2'])
  const { losses, stores } = await reportOf()
  expect(losses).toMatchObject({ messages: 1, chats: 1 })
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
  expect(sum(stores.map(({ messages }) => messages?.keptHere ?? 0))).toBe(1)
  expect(sum(stores.map(({ chats }) => chats?.lost ?? 0))).toBe(1)
  expect((await doctor()).out).toContain('Deleted in Cursor, still here: 1 chat and 1 message.')
})

describe('--shape', () => {
  const canaries = ['plumcanary', 'lovelace', 'ada@example', 'sk-canary', '/home/ada', 'C:\\\\ada', 'ghp_canary']

  function plant(): void {
    const words = 'plumcanary /home/ada/x lovelace ada@example.com sk-canary'
    const value = {
      name: words,
      text: words,
      codeBlockData: { 'file:///home/ada/plumcanary.ts': { content: words } },
      mentions: { 'ada@example.com': 1, 'Ada lovelace': 2, 'sk-canary': 3 },
      inner: JSON.stringify({ words }),
    }
    store.chat('plumcanary', { ...value, fullConversationHeadersOnly: headers(['plumcanary']) })
    store.message('plumcanary', 'plumcanary', value)
    for (const key of [words, 'lovelace', 'ada@example.com:x', '/home/ada:x', 'newKv:plumcanary']) store.put(key, value)
    store.put('composer.content.plumcanary', words)
    store.put('newKv:bytes', Buffer.from(words))
    for (const key of ['cursorAuth/accessToken', 'secret://plumcanary', 'telemetry.lovelace', 'lovelace.settings']) {
      store.item(key, words)
    }
    store.item('composer.composerHeaders', { allComposers: [value] })
    store.db.exec('create table "ada@example.com" ("/home/ada" text, words text)')
    store.db.prepare('insert into "ada@example.com" values (?, ?)').run(words, JSON.stringify(value))
    store.db.exec('create table authTokens (id text, token text); create table notes (token text, data blob)')
    store.db.prepare('insert into authTokens values (?, ?)').run(words, 'ghp_canary')
    store.db.prepare('insert into notes values (?, ?)').run('ghp_canary', Buffer.from(words))
  }

  test('describes the structure of a store, without any content', async () => {
    plant()
    const { exitCode, out, err } = await doctor('--shape')
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    expect(canaries.filter((canary) => out.includes(canary))).toEqual([])
    expect(out).not.toMatch(/cursorAuth|secret|telemetry|authTokens|accessToken/)
    for (const name of ['composerData:<id>', 'newKv:<id>', 'codeBlockData', '<table>', 'composer.composerHeaders']) {
      expect(out).toContain(name)
    }
    const shapes = JSON.parse(out) as { tables: { name: string; rows: number }[] }[]
    expect(shapes[0]?.tables).toContainEqual(expect.objectContaining({ name: 'ItemTable', rows: 5 }))
  })

  test('describes a given file or folder', async () => {
    plant()
    const { out } = await run(['doctor', '--shape', home.globalPath])
    expect(out).toContain('composerData:<id>')
    expect(canaries.filter((canary) => out.includes(canary))).toEqual([])
    expect((await run(['doctor', '--shape', home.userDir])).out).toBe(out)
  })

  test('for a file that is not a store, only the state is shown', async () => {
    const path = `${home.root}/plumcanary.db`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'plumcanary '.repeat(100))
    const { exitCode, out } = await run(['doctor', '--shape', path])
    expect(exitCode).toBe(0)
    expect(JSON.parse(out)).toEqual([{ kind: 'composer-kv', state: 'corrupt', tables: [] }])
  })

  test('the normal report contains no values either', async () => {
    plant()
    indexer.pass()
    const { out } = await doctor()
    expect(canaries.filter((canary) => canary !== 'plumcanary' && out.includes(canary))).toEqual([])
  })
})
