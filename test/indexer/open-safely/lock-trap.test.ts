import * as fs from 'node:fs'
import type * as Sqlite from 'better-sqlite3'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Follow } from '../../../src/daemon/follow/follow.ts'
import { openCursorFile } from '../../../src/indexer/open-safely/cursor-file.ts'
import { FakeClock } from '../../daemon/fake-clock.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import { CursorHome, type JournalMode } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { Indexer } from '../../helpers/in-process.ts'

/**
 * Closing a file drops every lock that the process has on it, through any handle. A plain file call on a database that
 * SQLite has open would therefore remove SQLite's locks. This test records every plain open, and whether SQLite had the
 * same database open at that moment.
 */
const seen = vi.hoisted(() => ({
  root: '',
  open: new Map<string, number>(),
  everOpen: 0,
  plain: [] as string[],
  trapped: [] as string[],
}))

const databaseOf = (path: string): string => path.replace(/-(wal|shm|journal)$/, '')

vi.mock(import('node:fs'), async (original) => {
  const actual = await original()
  const note = (path: unknown): void => {
    if (typeof path !== 'string' || seen.root === '' || !path.startsWith(seen.root)) return
    seen.plain.push(path)
    if ((seen.open.get(path.replace(/-(wal|shm|journal)$/, '')) ?? 0) > 0) seen.trapped.push(path)
  }
  const noting = <Call extends (...given: never[]) => unknown>(call: Call): Call =>
    ((...given: Parameters<Call>) => {
      note(given[0])
      return call(...given)
    }) as Call
  const { openSync, readFileSync, copyFileSync, createReadStream, open, readFile } = actual
  const calls = { openSync, readFileSync, copyFileSync, createReadStream, open, readFile }
  const noted = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, noting(call as never)]))
  return { ...actual, ...noted }
})

vi.mock('../../../src/sqlite.ts', async (original) => {
  const { default: Actual } = await original<{ default: typeof Sqlite.default }>()
  class Noted extends Actual {
    constructor(file?: string | Buffer, options?: Sqlite.Options) {
      super(file, options)
      if (typeof file === 'string' && options?.readonly === true) count(file, 1)
    }
    override close(): this {
      if (this.open && this.readonly) count(this.name, -1)
      return super.close()
    }
  }
  const count = (file: string, by: number): void => {
    seen.open.set(file, (seen.open.get(file) ?? 0) + by)
    seen.everOpen += Number(by > 0 && file.startsWith(seen.root))
  }
  return { default: Noted }
})

let home: CursorHome
let indexer: Indexer
beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
  Object.assign(seen, { root: home.root, everOpen: 0 })
  seen.plain.length = 0
  seen.trapped.length = 0
  seen.open.clear()
})
afterEach(() => {
  seen.root = ''
  indexer.remove()
  home.remove()
})

/** A store of each kind, with messages that refer to outputs and to pasted texts. */
function fillHome(mode: JournalMode, textLength: number): void {
  const store = home.global(mode)
  fillStore(store, { chats: 10, messagesPerChat: 20, textLength })
  store.item('composer.composerHeaders', { allComposers: [{ composerId: 'chat-0', name: 'A list' }] })
  const tool = { name: 'read_file', toolCallId: 'call-1', status: 'completed' }
  const request = { type: 2, toolFormerData: tool, conversationState: '~Cg==' }
  store.message('chat-1', 'm1-1', { text: 'asks', ...request, externalPaste: [{ contentId: 'a'.repeat(64) }] })
  home.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['chat-0'])
  const transcripts = join(home.root, '.cursor', 'projects', 'home-ada-shop', 'agent-transcripts')
  mkdirSync(transcripts, { recursive: true })
  writeFileSync(join(transcripts, 'chat-9.txt'), 'user:\nhello\n')
  indexer.homes = [join(home.root, '.cursor')]
}

describe.each([
  ['wal', 40],
  ['wal', 200_000],
  ['delete', 40],
  ['delete', 200_000],
] as const)('a home in %s mode with texts of %i characters', (mode, textLength) => {
  test('no plain file call opens a database while SQLite has it open', async () => {
    fillHome(mode, textLength)
    for (const depth of ['tail', 'keys', 'values'] as const) {
      home.global(mode).message('chat-2', `m-${depth}`, { type: 1, text: `said before ${depth}` })
      await indexer.pass(depth)
    }
    for (const source of discoverSources({ userDirs: [home.userDir], homes: [], disabledKinds: [] })) source.look?.()
    expect(seen.trapped).toEqual([])
    expect(seen.plain).toContain(home.globalPath)
    // A small store without a WAL is read only from a copy.
    expect(seen.everOpen > 0).toBe(mode === 'wal' || textLength > 40)
    expect([...seen.open].filter(([file, handles]) => file.startsWith(home.root) && handles > 0)).toEqual([])
  })
})

test('the main thread, which follows the files, opens none of them', async () => {
  fillHome('wal', 40)
  seen.plain.length = 0
  const clock = new FakeClock()
  const events: (() => void)[] = []
  const runs: number[] = []
  const follow = new Follow(
    { userDirs: [home.userDir], homes: indexer.homes, disabledKinds: [] },
    {
      now: clock.now,
      later: clock.later,
      hasMore: () => false,
      run: async (orders) => {
        runs.push(orders.length)
        const ends = orders.map(({ id }) => ({ id, kind: '', path: '', ...wellRead }))
        return { changed: 0, added: 0, gone: 0, backlog: 0, ends }
      },
      watch: (_, onEvent) => {
        events.push(() => onEvent('rename', null))
        return () => undefined
      },
      warn: (sentence) => expect.fail(sentence),
    },
  )
  follow.start()
  await clock.advance(61_000)
  for (const happen of events) happen()
  await clock.advance(1000)
  expect([runs[0], follow.isUpToDate, follow.lagMs]).toEqual([6, true, 0])
  expect(seen.plain).toEqual([])
  expect(seen.everOpen).toBe(0)
})

const wellRead = { state: 'ok', detail: null, again: [], pendingLoss: null } as const

test('the trap notices a plain file call on an open database', () => {
  fillHome('wal', 40)
  const file = openCursorFile(home.globalPath)
  if (file.kind === 'closed') throw new Error(file.state)
  file.read(() => fs.readFileSync(`${home.globalPath}-wal`))
  file.close()
  expect(seen.trapped.map(databaseOf)).toEqual([home.globalPath])
})
