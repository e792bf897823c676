import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { chatDigests } from '../../src/mirror/migrations/0002-to-0009.ts'
import { migrations } from '../../src/mirror/migrations/index.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { mirrorBefore } from '../helpers/mirror-before.ts'
import { insertChat, insertMessage } from '../helpers/mirror-rows.ts'

/** A mirror of an older version with one message, in which a column has a name that no version used. */
function foreignMirror(): string {
  const { path, db } = mirrorBefore(chatDigests)
  insertMessage(db, insertChat(db, { id: 'c' }), { id: 'm', parts: 'kept', createdAtMs: 1e12 })
  db.exec('alter table messages rename column marks to signs')
  db.close()
  return path
}

function stateOf(path: string): { version: unknown; schema: unknown[]; messages: unknown } {
  const db = new Database(path)
  try {
    return {
      version: db.pragma('user_version', { simple: true }),
      schema: db.prepare('select name from sqlite_schema order by name').pluck().all(),
      messages: db.prepare('select count(*) from messages').pluck().get(),
    }
  } finally {
    db.close()
  }
}

test('an upgrade that fails midway leaves the mirror unchanged, and the error says what to do', () => {
  const path = foreignMirror()
  const before = stateOf(path)
  expect(before).toMatchObject({ version: migrations.indexOf(chatDigests), messages: 1 })
  expect(() => openWriter(path)).toThrow(
    expect.objectContaining({ code: 'mirror-foreign', hint: expect.stringContaining('--data-dir') as string }),
  )
  expect(stateOf(path)).toEqual(before)
})
