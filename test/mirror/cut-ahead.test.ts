import { afterEach, beforeEach, expect, test } from 'vitest'
import { arrangeThread } from '../../src/indexer/arrange-thread.ts'
import { countBacklog, indexBacklog } from '../../src/mirror/backlog.ts'
import { emptyBatch } from '../../src/mirror/batch.ts'
import { packMessage } from '../../src/mirror/pack-message.ts'
import { writeBatch } from '../../src/mirror/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import { HelpAside } from '../helpers/help-aside.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
/** So long that a transaction of the backlog takes two such messages; the word stands behind what becomes a title. */
const withWord = (word: string): string => `${'dolor '.repeat(30)}${word} ${'lorem '.repeat(1024 * 1024)}`

let opened: OpenMirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  source = opened.source('composer-kv')
  for (const [at, word] of ['apple', 'pear', 'plum', 'fig'].entries()) write(`m${at}`, withWord(word), at)
})

afterEach(() => opened.remove())

function write(id: string, text: string, at: number): void {
  const messages = [packMessage(draftOf(id, text, { sentAtMs: T0 + at }))]
  const chats = [{ id: asChatId('chat'), ownRow: { kind: 'unread' } as const, messages, vanished: [] }]
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, chats, isIndexedLater: true }, arrangeThread)
}

const met = (word: string): number =>
  opened.db
    .prepare<[string], number>('select count(*) from message_terms where message_terms match ?')
    .pluck()
    .get(word) ?? 0

const isListed = (word: string): boolean =>
  opened.db.prepare('select 1 from terms where term = ?').get(word) !== undefined

test('messages that were cut ahead are found, and their terms listed', () => {
  const help = new HelpAside()
  expect(indexBacklog(opened.db, help.cutAhead())).toBe(2)
  expect([met('fig'), met('plum'), met('pear')]).toEqual([1, 1, 0])
  expect(indexBacklog(opened.db, help.cutAhead())).toBe(2)
  expect([met('pear'), met('apple'), countBacklog(opened.db)]).toEqual([1, 1, 0])
  expect(['fig', 'plum', 'pear', 'apple', 'lorem'].filter((word) => !isListed(word))).toEqual([])
})

test('a message that was rewritten since it was cut ahead is found by its new words alone', () => {
  const help = new HelpAside()
  indexBacklog(opened.db, help.cutAhead())
  write('m1', 'cherry', 1)
  while (indexBacklog(opened.db, help.cutAhead()) > 0);
  expect([met('pear'), met('cherry'), met('apple')]).toEqual([0, 1, 1])
  expect(isListed('cherry') && isListed('apple')).toBe(true)
})

test('a term met first in what was cut in vain is listed when another message holds it', () => {
  const help = new HelpAside()
  indexBacklog(opened.db, help.cutAhead())
  // `pear` was told once, with a text that stands no more.
  write('m1', 'cherry', 1)
  write('m0', withWord('pear'), 0)
  while (indexBacklog(opened.db, help.cutAhead()) > 0);
  expect([met('pear'), isListed('pear')]).toEqual([1, true])
})
