import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { planYear } from '../../helpers/year/plan-year.ts'
import { writeYear } from '../../helpers/year/write-year.ts'

const order = { chatCount: 120, zones: ['America/New_York'] }
const plan = planYear('a year', order)
const home = new CursorHome()
const indexer = new Indexer(home.userDir)

beforeAll(() => {
  writeYear(home, plan)
  indexer.pass()
})

afterAll(() => {
  indexer.remove()
  home.remove()
})

test('a seed always gives the same year, and another seed gives another', () => {
  expect(planYear('a year', order)).toEqual(plan)
  expect(planYear('another', order)).not.toEqual(plan)
})

test('reading a written year gives what was planned', () => {
  const planned = plan.chats.flatMap((chat) =>
    chat.messages
      // If the chat has no row, it is unknown which messages it no longer lists.
      .filter(({ place }) => place === 'thread' || (place === 'orphan' && chat.row === 'gone'))
      .map(({ id, role, tokens, call, model }) => ({
        chat: chat.id,
        id,
        role,
        model: model === 'default' ? null : model,
        input: tokens === null || tokens === 'zero' ? null : tokens.input,
        calls: call === null ? 0 : 1,
      })),
  )
  const held = indexer.mirror
    .prepare(
      `select c.id as chat, m.id, role, m.model, input_tokens as input, tool_calls as calls
       from messages m join chats c on c.num = m.chat where is_orphan = 0`,
    )
    .all() as typeof planned
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1)
  expect(held.toSorted(byId)).toEqual(planned.toSorted(byId))
})

test('a year contains every difficult case', () => {
  const messages = plan.chats.flatMap((chat) => chat.messages)
  const has = (message: (typeof messages)[number], place: string): boolean => message.place === place
  expect(messages.some((each) => has(each, 'orphan')) && messages.some((each) => has(each, 'blank'))).toBe(true)
  expect(new Set(messages.map(({ timeIn }) => timeIn))).toEqual(new Set(['row', 'header', 'timing', 'none']))
  expect(new Set(messages.flatMap(({ call }) => call?.status ?? [])).size).toBe(5)
  const { chats } = plan
  expect(chats.some(({ isDraft, messages: own }) => isDraft && own.length > 0)).toBe(true)
  expect(chats.some(({ parentId, messages: own }) => parentId !== null && own.length > 0)).toBe(true)
  expect(chats.some(({ row, messages: own }) => row === 'gone' && own.length > 0)).toBe(true)
  expect(chats.some(({ isArchived }) => isArchived) && chats.some(({ costCents }) => costCents !== null)).toBe(true)
  expect(chats.some(({ createdAtMs, messages: own }) => createdAtMs === null && own.length > 0)).toBe(true)
})
