import { afterEach, beforeEach, expect, test } from 'vitest'
import { assistant, say, user } from '../../helpers/eras/cli-store.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

const [createdAt, updatedAt, startedAt] = [1, 2, 3].map((day) => Date.UTC(2026, 5, day))

interface Told {
  readonly facts?: object
  readonly sidecar?: unknown
  readonly startedAtMs?: number
}

function chatOf({ facts = {}, sidecar, startedAtMs }: Told): Record<string, unknown> {
  const store = home.store('a')
  const plan = { entries: [store.blob(user('What is slag?'))], tokens: { used: 900, limit: 200_000 } }
  home.say(store, startedAtMs === undefined ? plan : { ...plan, startedAtMs }, facts)
  if (sidecar !== undefined) store.sidecar(sidecar)
  home.pass()
  const [chat] = home.rows<Record<string, unknown>>('select * from chats')
  return chat ?? {}
}

test.each<[string, Told, string, string]>([
  ['beside the store', { facts: { name: 'Inner' }, sidecar: { title: 'Outer' } }, 'Outer', 'cursor'],
  ['in the store', { facts: { name: 'Inner' }, sidecar: { title: '' } }, 'Inner', 'cursor'],
  ['the first words, if it has none yet', {}, 'What is slag?', 'first-message'],
])('the title is the one %s', (_, given, title, source) => {
  expect(chatOf(given)).toMatchObject({ title, title_source: source })
})

test.each<[string, Told, number | null]>([
  ['the store', { facts: { createdAt }, sidecar: { createdAtMs: updatedAt } }, createdAt ?? null],
  ['the file beside it', { sidecar: { createdAtMs: updatedAt }, startedAtMs: startedAt ?? 0 }, updatedAt ?? null],
  ['its state', { startedAtMs: startedAt ?? 0 }, startedAt ?? null],
  ['nothing', { facts: { createdAt: 7 }, sidecar: { createdAtMs: 'soon' } }, null],
])('the time of creation comes from %s', (_, given, atMs) => {
  expect(chatOf(given)).toMatchObject({ cursor_created_at: atMs })
})

test('the time of the last change comes only from the file beside the store', () => {
  expect(chatOf({ facts: { updatedAtMs: 7 }, sidecar: { updatedAtMs: updatedAt } })).toMatchObject({
    cursor_updated_at: updatedAt,
  })
})

test.each([
  ['opus', 'opus'],
  ['default', null],
  ['auto', null],
  [7, null],
])('the model %j is %j', (lastUsedModel, model) => {
  expect(chatOf({ facts: { lastUsedModel } })).toMatchObject({ cursor_model: model })
})

test('mode, tokens and the subagent flag are read', () => {
  expect(chatOf({ facts: { mode: 'plan' }, sidecar: { isSubagent: true } })).toMatchObject({
    mode: 'plan',
    context_used: 900,
    context_limit: 200_000,
    is_subagent: 1,
    format: 'cli',
  })
})

test('a message has the time in its prompt, and no other', () => {
  const sent = '<timestamp>Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)</timestamp>\n<user_query>\none\n</user_query>'
  home.chat('a', [{ role: 'user', content: sent }, assistant(say('two'))])
  home.pass()
  const at = Date.UTC(2026, 5, 2, 3, 20)
  expect(home.texts('a')).toEqual(['one', 'two'])
  expect(home.rows('select created_at, created_at_source from messages order by position')).toEqual([
    { created_at: at, created_at_source: 'message' },
    { created_at: at, created_at_source: 'neighbour' },
  ])
})

test('a prompt that contains only what the agent added is not a message', () => {
  home.chat('a', [
    { role: 'user', content: '<user_info>\nOS\n</user_info>\n<rules>\nBe kind\n</rules>' },
    { role: 'user', content: [say('<user_query>\n \n</user_query>')] },
    user('one'),
  ])
  home.pass()
  expect(home.held('a').map(({ position, parts }) => [position, parts])).toEqual([[0, [{ kind: 'text', text: 'one' }]]])
  expect(home.issues).toEqual([])
})
