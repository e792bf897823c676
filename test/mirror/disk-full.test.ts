import { afterAll, beforeAll, expect, test } from 'vitest'
import { FullDisk } from '../helpers/guard/disk-full.ts'

const POINTS = 50

let disk: FullDisk

beforeAll(() => {
  disk = new FullDisk(62)
})

afterAll(() => disk.remove())

test('a full disk at any moment causes only delay, no loss', () => {
  const wrong: string[] = []
  let full = 0
  for (let point = 0; point < POINTS; point += 1) {
    const outcome = disk.fail(point / POINTS)
    wrong.push(...outcome.wrong.map((fault) => `point ${point}: ${fault}`))
    if (outcome.wasFull) full += 1
  }
  console.log(`disk full: ${POINTS} points over ${disk.pages} pages, ${full} times full, ${wrong.length} wrong`)
  expect(wrong).toEqual([])
  expect(full).toBeGreaterThan(POINTS * 0.8)
})

test('this test detects a position that is written before its rows', () => {
  const { wrong } = disk.fail(0.5, ({ db }) => {
    db.exec(`update sources set watermark = 1000000 where kind = 'composer-kv'`)
  })
  expect(wrong).not.toEqual([])
})

test('this test detects a full-text row that is written in another transaction than its message', () => {
  const { wrong } = disk.fail(0.95, ({ db }) => {
    db.exec(
      `delete from unindexed; delete from message_terms where rowid = (select max(id) from message_terms_docsize)`,
    )
  })
  expect(wrong).not.toEqual([])
})
