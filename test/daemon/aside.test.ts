import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { mirrorPath } from '../../src/daemon/data-folder.ts'
import { CursorHome } from '../../src/sample/cursor-home.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { HelpAside } from '../helpers/help-aside.ts'
import { Indexer } from '../helpers/in-process.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'

/** More rows than a pass reads alone, and a backlog longer than is cut alone, in several transactions. */
const FILLING = { chats: 90, messagesPerChat: 40, textLength: 5000 }

const home = new CursorHome()
let alone: unknown

beforeAll(() => {
  fillStore(home.global(), FILLING)
  const indexer = new Indexer(home.userDir)
  indexer.pass('reconcile')
  alone = contentsOf(indexer.path)
  indexer.remove()
}, 120_000)

afterAll(() => home.remove())

const LISTS = [
  `select chats.id as chat, key, messages.id, role, position, messages.created_at, created_at_source, is_orphan,
     messages.is_live, content_hash, user_text, text_keys, marks, messages.octets, parts
   from messages join chats on chats.num = chat join bodies on bodies.num = body order by key`,
  `select id, title, source, format, created_at, last_activity_at, message_count, size_bytes from chats order by id`,
  `select * from source_rows order by source, key`,
  `select entries, chats.id from outlines join chats on chats.num = chat order by chats.id`,
  `select term from terms order by term`,
  `select count(*) as waiting from unindexed`,
]

/** All that a first pass makes of a store, the full-text table by its terms and how often each stands where. */
function contentsOf(path: string): unknown {
  const db = new Database(path)
  try {
    db.exec(`create virtual table temp.met using fts5vocab(main, message_terms, col)`)
    db.exec(`insert into message_terms (message_terms) values ('integrity-check')`)
    return [...LISTS, `select * from met order by term, col`].map((sql) => db.prepare(sql).all())
  } finally {
    db.close()
  }
}

let indexer: Indexer

beforeEach(() => {
  indexer = new Indexer(home.userDir)
})

afterEach(() => indexer.remove())

test('what was read and cut beside comes to the same as what was done alone', () => {
  const help = new HelpAside()
  indexer.help = help
  indexer.pass('reconcile')
  expect([help.reads > 3, help.cuts > 3]).toEqual([true, true])
  expect(contentsOf(indexer.path)).toEqual(alone)
}, 60_000)

test('no second thread is asked for where a store of many rows has nothing new', () => {
  indexer.pass('reconcile')
  let asked = 0
  const help = new HelpAside()
  indexer.help = { thread: () => ((asked += 1), help), cutAhead: () => ((asked += 1), help.cutAhead()) }
  indexer.pass('reconcile')
  expect(asked).toBe(0)
}, 60_000)

test.each([
  ['nothing', () => true],
  ['not the first', (task: number) => task === 1],
  ['every second', (task: number) => task % 2 === 0],
])(
  'a thread that answers %s costs nothing but time',
  (_, isLost) => {
    indexer.help = new HelpAside(isLost)
    indexer.pass('reconcile')
    expect(contentsOf(indexer.path)).toEqual(alone)
  },
  60_000,
)

test('the daemon makes of a large store with two threads what is made of it with one', async () => {
  const daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  try {
    await daemon.waitReady()
    expect(contentsOf(mirrorPath(daemon.dataDir))).toEqual(alone)
  } finally {
    await daemon.stop()
  }
}, 90_000)
