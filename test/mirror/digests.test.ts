import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answerStats } from '../../src/api/reports/stats/answer-stats.ts'
import { countUndigested, digestBacklog, digestOf } from '../../src/mirror/digests/digest-backlog.ts'
import { DigestWords } from '../../src/mirror/digests/write-digest.ts'
import { chatDigests } from '../../src/mirror/migrations/0002-to-0009.ts'
import { Chance, CursorHome, type Store } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'
import { planYear, type PlannedChat, type YearPlan } from '../helpers/year/plan-year.ts'
import { chatRow, messageRow, writeYear } from '../helpers/year/write-year.ts'
import type { Stats } from '../../src/api/http/schemas/stats.ts'

let home: CursorHome
let indexer: Indexer
let store: Store
let plan: YearPlan

beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
  plan = planYear('digested', { chatCount: 40, zones: ['UTC'] })
  store = writeYear(home, plan)
  indexer.pass()
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

const LIST = `select chat, entries from chat_digests order by chat`
const listDigests = (): { chat: number; entries: Buffer }[] =>
  indexer.mirror.prepare<[], { chat: number; entries: Buffer }>(LIST).all()

/** Chats whose digest does not match their messages and bodies. */
function wrongDigests(): number[] {
  const words = new DigestWords(indexer.mirror)
  const held = listDigests()
  // Computed from the bodies only: the expected value must not use the tested code.
  return indexer.mirror.transaction(() => {
    indexer.mirror.exec('delete from chat_digests')
    const wrong = held.filter(({ chat, entries }) => !digestOf(indexer.mirror, chat, words).equals(entries))
    const put = indexer.mirror.prepare('insert into chat_digests (chat, entries) values (?, ?)')
    for (const { chat, entries } of held) put.run(chat, entries)
    return wrong.map(({ chat }) => chat)
  })()
}

function statsNow(deadlineMs = 60_000): Stats {
  const request = {
    projectNums: null,
    machineNums: null,
    fromMs: null,
    toMs: null,
    bucket: 'day',
    timeZone: 'Asia/Kathmandu',
  } as const
  const answer = answerStats(indexer.mirror, request, deadlineMs)
  if (answer.kind !== 'stats') throw new Error('too many days')
  return answer.stats
}

describe('a digest matches its messages', () => {
  test('after the first pass, for every chat', () => {
    expect(listDigests().length).toBeGreaterThan(30)
    expect(wrongDigests()).toEqual([])
  })

  test('after all kinds of changes: rewritten calls, new turns, regenerated and deleted messages, deleted chats', () => {
    const chance = new Chance('changes')
    for (let round = 0; round < 12; round += 1) {
      for (const chat of plan.chats) if (chance.next() < 0.3) change(chance, chat)
      indexer.pass(chance.next() < 0.5 ? 'nudge' : 'reconcile')
      expect(wrongDigests()).toEqual([])
    }
    indexer.pass('full')
    expect(wrongDigests()).toEqual([])
  })

  test('and a pass without changes does not write it again', () => {
    const before = listDigests()
    const { changes } = indexer.mirror.prepare('select total_changes() as changes').get() as { changes: number }
    indexer.pass('full')
    expect(listDigests()).toEqual(before)
    const after = indexer.mirror.prepare('select total_changes() as changes').get() as { changes: number }
    expect(after.changes - changes).toBeLessThan(before.length)
  })
})

/** One change that Cursor makes to a chat. */
function change(chance: Chance, chat: PlannedChat): void {
  const [first, ...rest] = chat.messages
  if (first === undefined) return
  const message = chance.pick([first, ...rest])
  const key = `bubbleId:${chat.id}:${message.id}`
  const act = chance.pick(['rewrite', 'finish', 'delete', 'regenerate', 'restore', 'retime'])
  if (act === 'rewrite') store.message(chat.id, message.id, messageRow({ ...message, text: `anew ${chance.hex(4)}` }))
  if (act === 'finish' && message.call !== null) {
    const call = {
      ...message.call,
      status: chance.pick(['completed', 'error'] as const),
      path: `src/${chance.hex(2)}.ts`,
    }
    store.message(chat.id, message.id, messageRow({ ...message, call }))
  }
  if (act === 'delete') store.delete(key)
  if (act === 'restore') store.message(chat.id, message.id, messageRow(message))
  if (act === 'retime')
    store.message(chat.id, message.id, messageRow({ ...message, timeIn: 'row', atMs: message.atMs + 7 }))
  if (act === 'regenerate') {
    const messages = chat.messages.filter(({ id }) => id !== message.id)
    store.chat(chat.id, chatRow({ ...chat, messages }, plan))
  }
}

/** The state after the migration: there are no digests, and every chat waits for one. */
describe('a mirror of an older version', () => {
  beforeEach(() => {
    const { mirror } = indexer
    for (const table of ['chat_digests', 'digest_words', 'undigested']) mirror.exec(`drop table ${table}`)
    mirror.exec(chatDigests)
  })

  test('gets its digests in the next pass, newest chats first, with the same content', () => {
    indexer.restart()
    expect(countUndigested(indexer.mirror)).toBeGreaterThan(30)
    const before = statsNow()
    expect(before.uncounted).toEqual({ chats: 0 })
    expect(digestBacklog(indexer.mirror)).toBe(20)
    expect(statsNow()).toEqual(before)
    expect(indexer.pass().backlog).toBe(0)
    expect(countUndigested(indexer.mirror)).toBe(0)
    expect(statsNow()).toEqual(before)
    expect(wrongDigests()).toEqual([])
  })

  test('reports how many chats are not counted if there was no time', () => {
    indexer.restart()
    const { uncounted, totals } = statsNow(0)
    expect(uncounted.chats).toBeGreaterThan(30)
    expect(totals.messages).toBe(0)
    indexer.pass()
    expect(statsNow(0).uncounted).toEqual({ chats: 0 })
  })
})

test('deleted messages still count, with the same facts', () => {
  const before = statsNow()
  for (const chat of plan.chats.slice(0, 30)) {
    for (const { id } of chat.messages.filter(({ place }) => place === 'thread'))
      store.delete(`bubbleId:${chat.id}:${id}`)
  }
  indexer.mass = { rows: 1_000_000, share: 1 }
  indexer.pass('full')
  const gone = indexer.mirror.prepare('select count(*) from messages where is_live = 0').pluck().get()
  expect(gone).toBeGreaterThan(50)
  expect(statsNow()).toEqual(before)
})
