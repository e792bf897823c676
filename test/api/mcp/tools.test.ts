import type { Client } from '@modelcontextprotocol/client'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { headers, toolData, type Store } from '../../helpers/cursor.ts'
import { GitRepository } from '../../helpers/git-repository.ts'
import { callTool, connectAgent, nextOf, readAll } from '../../helpers/mcp-client.ts'
import { World } from '../../helpers/world.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

/** More is not sent in one answer. */
const ANSWER_TOKENS_MAX = 6000

let world: World
let store: Store
let client: Client
const nowMs = Date.parse('2026-03-01T12:00:00Z')

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs })
  world = await World.open()
  store = world.home.global()
  client = await connectAgent((path, init) => world.request(path, init))
})
afterEach(async () => {
  vi.useRealTimers()
  await client.close()
  await world.remove()
})

const call = (name: string, args: Record<string, unknown> = {}) => callTool(client, name, args)

async function sync(): Promise<void> {
  await world.sync()
  store = world.home.global()
}

const dayOf = (at: number): string => new Date(Date.parse('2025-09-01') + at * 86_400_000).toISOString().slice(0, 10)

/** A chat that Cursor keeps, in which user and assistant take turns. */
async function addTalk(
  id: string,
  texts: readonly string[],
  atMs = Date.parse('2026-02-01T10:00:00Z'),
  isRead = true,
): Promise<void> {
  const ids = texts.map((_, at) => `${id}-m${at}`)
  store.chat(id, {
    name: `Talk of ${id}`,
    createdAt: atMs,
    lastUpdatedAt: atMs,
    fullConversationHeadersOnly: headers(ids),
  })
  texts.forEach((text, at) =>
    store.message(id, ids[at] ?? '', {
      type: at % 2 === 0 ? 1 : 2,
      text,
      createdAt: new Date(atMs + at).toISOString(),
    }),
  )
  if (isRead) await sync()
}

test('seven tools, two kinds of resources and three prompts are offered, all read-only', async () => {
  const listed = await client.listTools()
  expect(new Set(listed.tools.map(({ name }) => name)).size).toBe(7)
  expect(listed.tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'cursordex://chats/{id}',
    'cursordex://projects/{id}',
  ])
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['recall', 'why', 'weekly-summary'])
  const { messages } = await client.getPrompt({ name: 'recall', arguments: { topic: 'plum trees' } })
  expect(JSON.stringify(messages)).toContain('plum trees')
})

test('a search finds messages, and names the calls that read on', async () => {
  await addTalk('orchard', ['Where does the plum tree stand?', 'Behind the mill.'])
  const { text } = await call('search_chats', { query: 'plum tree' })
  expect(text).toContain('chat orchard message orchard-m0')
  expect(text).toContain('**plum** **tree**')
  expect(text).toContain('To read one: read_messages {"chat":"orchard","around":"orchard-m0"}')
})

test('a search in a whole sentence shows the closest chats with the words that they lack', async () => {
  await addTalk('orchard', ['The plum tree needs water', 'Watered.'])
  const { text } = await call('search_chats', { query: 'plum tree submarine' })
  expect(text).toContain('No message contains all of: plum tree submarine')
  expect(text).toMatch(/Closest chats[^]*chat orchard[^]*/)
  expect(text).toContain('lacks: submarine')
})

test('the chat that is being written is left out, and that is said', async () => {
  await addTalk('orchard', ['An old plum tree'])
  await addTalk('now', ['A new plum tree'], nowMs - 60_000)
  const { text } = await call('search_chats', { query: 'plum' })
  expect(text).toContain('chat orchard')
  expect(text).not.toContain('chat now')
  expect(text).toContain('active in the last ten minutes are left out')
  expect((await call('search_chats', { query: 'plum', include_active: true })).text).toContain('chat now')
})

test('more than fifty active chats are left out of a search, and its counts', async () => {
  await addTalk('orchard', ['An old plum tree'])
  for (let at = 0; at < 60; at += 1) await addTalk(`now-${at}`, ['A new plum'], nowMs - 1000 * at, false)
  await sync()
  const { text } = await call('search_chats', { query: 'plum', sort: 'newest', limit: 30 })
  expect(text).toContain('1 messages found.')
  expect(text).not.toContain('chat now-')
  expect((await call('search_chats', { query: 'plum', include_active: true })).text).toContain('61 messages found.')
})

test('pages of a search follow on each other without a gap, with an active chat between the hits', async () => {
  for (let at = 0; at < 25; at += 1) {
    const isActive = at % 5 === 0
    await addTalk(`talk-${at}`, ['A plum'], isActive ? nowMs - 1000 * at : Date.parse('2026-02-01T10:00:00Z') + at)
  }
  const pages = await readAll(client, 'search_chats', { query: 'plum', limit: 4, sort: 'newest' })
  const seen = pages.flatMap((text) => [...text.matchAll(/^ {3}chat (\S+) message/gm)].map(([, id]) => id ?? ''))
  const expected = Array.from({ length: 25 }, (_, at) => at).filter((at) => at % 5 !== 0)
  expect(seen.toSorted()).toEqual(expected.map((at) => `talk-${at}`).toSorted())
})

test('a chat is named by the beginning of its id, which must fit only one', async () => {
  await addTalk('orchard', ['The plum', 'Yes.'])
  await addTalk('orchestra', ['The violin', 'No.'])
  expect((await call('get_chat', { chat: 'orcha' })).text).toContain('chat orchard |')
  expect((await call('read_messages', { chat: 'orche' })).text).toContain('Chat orchestra: messages 1 to 2 of 2.')
  const { contents } = await client.readResource({ uri: 'cursordex://chats/orcha' })
  expect(JSON.stringify(contents)).toContain('chat orchard |')
  const several = await call('read_messages', { chat: 'orch' })
  expect([several.isError, several.text]).toEqual([true, expect.stringMatching(/2 chats [^]*orchestra, orchard/)])
})

test('around, offset and the next call count the same messages, also those that the chat lists no more', async () => {
  await addTalk('orchard', ['One', 'Two', 'Three'], undefined, false)
  store.message('orchard', 'lost', { type: 2, text: 'Four', createdAt: '2026-02-01T10:00:01Z' })
  await sync()
  const all = (await call('read_messages', { chat: 'orchard' })).text
  const places = (text: string) => [...text.matchAll(/^\[(\d+)\].* message (\S+) /gm)].map(([, at, id]) => [at, id])
  expect(places(all)).toEqual(['orchard-m0', 'orchard-m1', 'orchard-m2', 'lost'].map((id, at) => [`${at + 1}`, id]))
  const followed: unknown[] = []
  for (const [at, id] of places(all)) {
    const { text } = await call('read_messages', { chat: 'orchard', around: id, before: 0, after: 0 })
    expect(places(text)).toEqual([[at, id]])
    const next = nextOf(text)
    followed.push(next === null ? null : places((await call(next.name, next.args)).text)[0]?.[0])
  }
  expect(followed).toEqual(['2', '3', '4', null])
})

test('a message without a part of the kinds asked for shows what it has', async () => {
  const read = {
    kind: 'tool',
    act: { name: 'read', path: 'src/plum.ts', contents: 'x' },
    ending: { kind: 'completed' },
  } as const
  await addTalk('orchard', ['Look'], undefined, false)
  store.chat('orchard', { name: 'Plums', createdAt: 1, fullConversationHeadersOnly: headers(['orchard-m0', 'call']) })
  store.message('orchard', 'call', {
    type: 2,
    text: '',
    capabilityType: 15,
    toolFormerData: toolData(read, 'new', 'c'),
  })
  await sync()
  expect((await call('read_messages', { chat: 'orchard' })).text).toMatch(/no part of[^]*\n> tool \w+: .*src\/plum\.ts/)
})

test('an absolute path finds what the path below the root of its project finds, and a commit is named as in git', async () => {
  const repository = new GitRepository(join(world.home.root, 'shop'))
  const atMs = Date.parse('2026-02-01T10:00:00Z')
  const path = 'src/plum.ts'
  const edit = { kind: 'tool', act: { name: 'edit', path, lines: ['+new'] }, ending: { kind: 'completed' } } as const
  store.chat('orchard', {
    name: 'Plums',
    createdAt: atMs,
    lastUpdatedAt: atMs,
    fullConversationHeadersOnly: headers(['a', 'b']),
  })
  store.message('orchard', 'a', { type: 1, text: 'Plant it', createdAt: new Date(atMs).toISOString() })
  const toolFormerData = toolData(edit, 'new', 'call')
  const createdAt = new Date(atMs + 1000).toISOString()
  store.message('orchard', 'b', { type: 2, text: '', capabilityType: 15, createdAt, toolFormerData })
  world.home.workspace('ws', { folder: pathToFileURL(repository.root).href }, ['orchard'])
  repository.commit({ atMs: atMs + 30_000, files: { [path]: 'new' } })
  await sync()
  for (const named of [path, join(repository.root, path)]) {
    expect((await call('why_code', { path: named })).text).toMatch(/chat orchard\n {2}evidence: 1 edits/)
    expect((await call('why_code', { path: named, project: 'shop' })).text).toContain('chat orchard')
    expect((await call('list_chats', { path: named })).text).toContain('chat orchard')
    expect((await call('search_chats', { query: '', path: named })).text).toContain('chat orchard')
  }
  expect((await call('why_code', { path, project: 'no-such' })).text).toContain('No chat is about')
  for (const commit of ['HEAD', 'HEAD^{commit}', repository.git(['rev-parse', 'HEAD']).slice(0, 7)]) {
    expect((await call('why_code', { commit, project: 'shop' })).text).toMatch(/confidence \w+ \| chat orchard/)
  }
  for (const commit of ['HEAD~9', '--all', 'no such']) {
    expect((await call('why_code', { commit, project: 'shop' })).isError).toBe(true)
  }
})

test('a chat is read to its end by following the next calls, within the budget', async () => {
  const texts = Array.from({ length: 400 }, (_, at) => `Message ${at}: ${'some words of it '.repeat(40)}`)
  await addTalk('long', texts)
  const pages = await readAll(client, 'read_messages', { chat: 'long', offset: 0 })
  for (const text of pages) expect(countTokens(text)).toBeLessThanOrEqual(ANSWER_TOKENS_MAX)
  const places = pages.flatMap((text) => [...text.matchAll(/Message (\d+):/g)].map(([, at]) => Number(at)))
  expect(places).toEqual(texts.map((_, at) => at))
})

const words = Array.from({ length: 20_000 }, (_, at) => `word${at}`)
test.each([
  ['one line', words.join(' ')],
  ['short lines', words.join('\n')],
  ['lines without text', `${'\n'.repeat(9000)}end`],
  ['indented lines', words.slice(0, 5000).join('\n  ')],
  ['signs of two units', '😀 '.repeat(6000)],
])('a long message of %s is read to its end by following the next calls', async (_, long) => {
  await addTalk('huge', [long, 'And done.'])
  const pages = await readAll(client, 'read_messages', { chat: 'huge', around: 'huge-m0', before: 0, after: 0 })
  const bodies = pages.map((text) => {
    expect(countTokens(text)).toBeLessThanOrEqual(ANSWER_TOKENS_MAX)
    const [, body = ''] =
      /message huge-m0 [^\n]*\n(?:\(from character \d+\)\n)?([^]*?)(?:\n\(cut at|\n\nNext|\n\nThis is)/.exec(text) ?? []
    return body.replaceAll(/^> /gm, '')
  })
  expect(bodies.join('') === long).toBe(true)
})

describe('wrong arguments come back as an error that says what would be right', () => {
  test.each(cases<[name: string, args: Record<string, unknown>, named: string]>('wrong arguments'))(
    '%s %j',
    async (name, args, named) => {
      const { text, isError } = await call(name, args)
      expect([isError, text]).toEqual([true, expect.stringContaining(named)])
    },
  )
})

test.each([
  ['day', /^- (\d{4}-\d\d-\d\d): /gm, Array.from({ length: 80 }, (_, at) => dayOf(79 - at))],
  ['chat', /^> Talk of (\S+)$/gm, Array.from({ length: 80 }, (_, at) => `talk-${79 - at}`)],
])('usage by %s shows the newest or largest rows first, and the next calls give the rest', async (by, row, all) => {
  for (let at = 0; at < 80; at += 1) {
    const texts = Array.from({ length: by === 'chat' ? at + 1 : 1 }, () => 'A plum')
    await addTalk(`talk-${at}`, texts, Date.parse(`${dayOf(at)}T10:00:00Z`), false)
  }
  await sync()
  const first = await call('get_usage', { group_by: by })
  expect(first.text).toContain('80 rows')
  expect(first.text).toContain('Left out: what comes after the first 60.')
  const pages = await readAll(client, 'get_usage', { group_by: by })
  const seen = pages.flatMap((text) => [...text.matchAll(row)].map(([, label]) => label))
  expect(seen).toEqual(all)
})

test('the other tools answer, also where there is nothing', async () => {
  expect((await call('list_losses')).text).toContain('dropped nothing')
  expect((await call('list_chats')).text).toContain('No chats')
  expect((await call('get_usage')).text).toContain('unknown')
  await addTalk('orchard', ['The plum', 'Yes.'])
  expect((await call('list_chats')).text).toContain('chat orchard')
  expect((await call('get_chat', { chat: 'orchard' })).text).toMatch(
    /First request:\n> The plum[^]*Last reply[^]*> Yes\./,
  )
  expect((await call('why_code', { path: 'src/none.ts' })).text).toContain('No chat is about src/none.ts')
  const { contents } = await client.readResource({ uri: 'cursordex://chats/orchard' })
  expect(JSON.stringify(contents)).toContain('First request')
})
