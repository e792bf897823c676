import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listLosses } from '../../src/api/queries/sources/list-losses.ts'
import { passSource, type PassDepth } from '../../src/indexer/source.ts'
import { findHeldChat } from '../../src/mirror/write/chats/held-chat.ts'
import { asChatId } from '../../src/model/ids.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { Indexer } from '../helpers/in-process.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { diarySources } from './made-up/index.ts'

let open: OpenMirror
let db: OpenMirror['db']

beforeEach(() => {
  open = new OpenMirror()
  db = open.db
  mkdirSync(join(open.folder, 'diaries'))
  writeDiary('monday', '> plant a figtree', 'dig a hole', '  one foot deep', '  water it', '> done')
  writeDiary('tuesday', '> prune the roses')
})
afterEach(() => {
  db.close()
  open.remove()
})

const diaryPath = (name: string): string => join(open.folder, 'diaries', name)
const writeDiary = (name: string, ...lines: readonly string[]): void =>
  writeFileSync(diaryPath(name), ['diary', ...lines].join('\n'))

/** @param stepsMax the pass stops after this many steps, as if it were killed */
function pass(decoder: number, depth: PassDepth = 'nudge', stepsMax = Infinity): number {
  let changes = 0
  for (const source of diarySources(open.folder, decoder)) {
    const steps = passSource(source, db, { depth, now: Date.now })
    let next = steps.next()
    for (let done = 0; next.done !== true && done < stepsMax; done += 1, next = steps.next()) {
      const { added = 0, changed = 0, gone = 0 } = next.value.outcome ?? {}
      changes += added + changed + gone
    }
    if (next.done !== true) steps.return({ state: 'ok', detail: null, again: [] })
  }
  return changes
}

const LIST = `
select chats.id as chat, messages.id, messages.is_live as isLive, bodies.parts ->> '$[0].text' as text
from messages join chats on chats.num = messages.chat join bodies on bodies.num = messages.body
order by chats.id, messages.id
`
const heldLines = (): string[] =>
  db
    .prepare<[], { chat: string; id: string; isLive: number; text: string }>(LIST)
    .all()
    .map(({ chat, id, isLive, text }) => `${chat} ${id} ${isLive === 1 ? 'held' : 'gone'}: ${text}`)
const lossCount = (): number =>
  listLosses(db, { projectNums: null, machineNums: null, fromMs: null, toMs: null, limit: 100, offset: 0 }).total

const readByNewer = [
  'monday line-0 held: > plant a figtree',
  'monday line-1 held: dig a hole one foot deep water it',
  'monday line-2 held: > done',
  'tuesday line-0 held: > prune the roses',
]

test('after a decoder change an unchanged store is read again, and what only the older decoder produced is removed without a loss', () => {
  pass(1)
  expect(heldLines()).toHaveLength(6)
  expect(pass(2)).toBeGreaterThan(0)
  expect(heldLines()).toEqual(readByNewer)
  expect(lossCount()).toBe(0)
  expect(pass(2, 'full')).toBe(0)
})

test('a message that only the older decoder produced still counts as known, so a restore leaves it out', () => {
  pass(1)
  pass(2)
  expect(findHeldChat(db, asChatId('monday'))?.messageIds).toEqual(
    new Set(['line-0', 'line-1', 'line-2', 'line-3', 'line-4']),
  )
})

test('an interrupted pass continues where it stopped', () => {
  pass(1)
  pass(2, 'nudge', 0)
  pass(2, 'nudge', 1)
  pass(2)
  expect(heldLines()).toEqual(readByNewer)
  expect(lossCount()).toBe(0)
})

test('what Cursor deleted while the program was not running is kept, and counts as a loss', () => {
  pass(1)
  rmSync(diaryPath('tuesday'))
  writeDiary('monday', '> plant a figtree', 'dig a hole')
  pass(2)
  expect(heldLines()).toEqual([
    'monday line-0 held: > plant a figtree',
    'monday line-1 held: dig a hole',
    'monday line-2 gone:   one foot deep',
    'monday line-3 gone:   water it',
    'monday line-4 gone: > done',
    'tuesday line-0 gone: > prune the roses',
  ])
  expect(lossCount()).toBe(4)
})

test('a chat that only the older decoder produced is removed without a loss', () => {
  writeDiary('wednesday.txt', '> mow the lawn')
  pass(1)
  pass(2)
  expect(db.prepare(`select id from chats order by id`).pluck().all()).toEqual(['monday', 'tuesday', 'wednesday'])
  expect(heldLines().at(-1)).toBe('wednesday line-0 held: > mow the lawn')
  expect(lossCount()).toBe(0)
})

test('a purged message stays out when a newer decoder numbers the messages of its chat differently', async () => {
  writeDiary('monday', 'first', '  second', '> the secret word is mellon', '> last')
  pass(1)
  db.close()
  await new PurgeHere(open.folder).purge({ match: 'mellon' })
  db = openWriter(open.path)
  expect(heldLines()).toHaveLength(4)
  pass(2)
  // The newer decoder counts one message less, so the purged id now belongs to the last message.
  expect(heldLines()).toEqual(['monday line-0 held: first second', 'tuesday line-0 held: > prune the roses'])
  pass(2, 'full')
  expect(heldLines()).toHaveLength(2)
})

test('after a decoder change every source of the all-eras home is read again, with the same result as a new mirror', () => {
  const home = new CursorHome()
  const cursor = join(home.root, '.cursor')
  writeAllEras(home, cursor)
  const indexer = new Indexer(home.userDir)
  indexer.homes = [cursor]
  try {
    indexer.pass('full')
    const dump = (): unknown[] =>
      indexer.mirror
        .prepare(
          `select chats.id as chat, chats.title, messages.id, position, messages.source, is_orphan, parts
           from messages join chats on chats.num = chat join bodies on bodies.num = body order by 1, 3, 5`,
        )
        .all()
    const before = dump()
    indexer.mirror.exec(
      `update bodies set parts = json_array(json_object('kind', 'text', 'text', 'as an older decoder read it'))
       where num not in (select body from messages join sources on sources.num = source where decoder = 1);
       update sources set decoder = 0 where decoder > 1`,
    )
    expect(dump()).not.toEqual(before)
    indexer.pass('nudge')
    expect(dump()).toEqual(before)
    expect(indexer.mirror.prepare(`select count(*) from superseded_messages`).pluck().get()).toBe(0)
  } finally {
    indexer.remove()
    home.remove()
  }
})
