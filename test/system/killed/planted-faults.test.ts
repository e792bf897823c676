import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { insertChat, insertMessage, openTestMirror } from '../../helpers/mirror-rows.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import * as checks from './check-mirror.ts'
import { killRounds } from './kill-rounds.ts'

test('a position that is written before its rows is noticed', async () => {
  const build = new FaultyBuild({
    file: 'indexer/sources/composer-kv/index.ts',
    replace: 'yield* readDirty(file, pass, found)',
    by: `{
      const { identity, signature } = file;
      const [watermark, watermarkKey] = [found.top?.rowid ?? 0, found.top?.key ?? null];
      const position = { identity, signature, watermark, watermarkKey };
      writeBatch(mirror, { ...emptyBatch, source: num, nowMs: request.now(), position });
      yield* readDirty(file, pass, found);
    }`,
  })
  try {
    const kindOf = (): 'backlog' => 'backlog'
    const plan = { rounds: 8, seed: 3, bulkChats: 2, bin: build.bin, kindOf, isShort: true }
    const { bad, rounds } = await killRounds(plan)
    console.log(`planted, positions before rows: bad after ${rounds} kills`)
    expect(bad.filter((line) => line.includes('left behind'))).not.toEqual([])
  } finally {
    build.remove()
  }
})

describe('an incomplete mirror is reported:', () => {
  let mirror: Mirror
  beforeEach(() => {
    mirror = openTestMirror()
    const chat = insertChat(mirror, { id: 'a' })
    for (const id of ['m1', 'm2', 'm3']) insertMessage(mirror, chat, { id, parts: `the word of ${id}` })
    mirror.exec(`update sources set kind = 'composer-kv', watermark = 3, watermark_key = 'k3';
      insert into source_rows (source, key, source_rowid, octets, is_live) values (1, 'k3', 3, 1, 1)`)
  })
  afterEach(() => mirror.close())

  const everHeld = new Set(['a:m1', 'a:m2', 'a:m3'])
  const checkAll = (): string[] => [
    ...checks.brokenPages(mirror),
    ...checks.brokenTerms(mirror),
    ...checks.aheadOfRows(mirror),
    ...checks.leftBehind(mirror, [{ key: 'k3', rowid: 3 }]),
    ...checks.lostMessages(mirror, everHeld),
  ]

  test('nothing if it is complete', () => {
    expect(checkAll()).toEqual([])
  })

  test.each([
    [
      'a full-text row that is not there',
      `delete from message_terms where rowid = (select min(key) from messages)`,
      /^neither/,
    ],
    ['a message indexed and waiting', `insert into unindexed select min(key) from messages`, /^indexed and waiting/],
    ['a full-text row of no message', `insert into message_terms (rowid, text) values (5, 'x')`, /no such message/],
    ['a word that is not listed', `delete from terms`, /^a word that is not listed/],
    ['a chat that is not indexed', `delete from chat_terms`, /^a chat that is not indexed/],
    ['a position ahead of its row', `delete from source_rows`, /^ahead: k3/],
    ['a row left behind', `update source_rows set source_rowid = 2`, /^left behind: k3/],
    ['a message lost', `delete from messages where id = 'm2'`, /^lost: a:m2/],
    ['a full-text table that is broken', `delete from message_terms_data where id > 10`, /^message_terms: /],
  ])('%s', (_, damage, finding) => {
    // SQLite otherwise protects the tables of the FTS5 index.
    mirror.unsafeMode(true)
    mirror.exec(damage)
    mirror.unsafeMode(false)
    expect(checkAll().join('\n')).toMatch(new RegExp(finding.source, 'm'))
  })
})
