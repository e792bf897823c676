import { expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { chatOfMessage } from '../../src/mirror/migrations/0002-to-0009.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { mirrorBefore } from '../helpers/mirror-before.ts'
import { insertChat, insertMessage, insertProject, requestOf } from '../helpers/mirror-rows.ts'

const INDEXES = `select name from sqlite_master where type = 'index' and name = 'chat_of_message'`

test('an older mirror gets the index of chats by message, and a search within a large project works', () => {
  const { path, db: before } = mirrorBefore(chatOfMessage)
  const project = insertProject(before, 'large')
  // More chats than a query lists one by one.
  for (let at = 0; at < 450; at += 1) {
    const chat = insertChat(before, { id: `c${at}`, project: at % 2 === 0 ? project : null })
    insertMessage(before, chat, { id: `m${at}`, parts: 'needle', createdAtMs: 1e12 + at })
  }
  before.close()

  const after = openWriter(path)
  while (indexBacklog(after) > 0);
  expect(after.prepare<[], string>(INDEXES).pluck().all()).toEqual(['chat_of_message'])
  const { total } = search(after, requestOf('needle', { filters: { project: ['large'] }, sort: 'newest' }))
  expect(total).toBe(225)
  after.close()
})
