import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import type { Part } from '../../../src/model/part.ts'
import Database from '../../../src/sqlite.ts'
import { call, line, lines, query, said, writeOutput, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { World } from '../../helpers/world.ts'

const SLUG = 'w-orchard'
let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(async () => world.remove())

const project = (): string => join(world.cursorHome, 'projects', SLUG)
const fileOf = (name: string): string => join(project(), 'agent-tools', name)

const write = (name: string, text: string | Buffer): string => writeOutput(world.cursorHome, SLUG, name, text)

const asked = (text: string) => line('user', said(query(text)))
const readOf = (name: string) => line('assistant', call('Read', { path: fileOf(name) }))

async function partsOf(chat: string): Promise<readonly Part[]> {
  const { items } = await world.get<Page<Message>>(`/api/chats/${chat}/messages?limit=200`)
  return items.flatMap(({ parts }) => parts)
}
const outputsOf = async (chat: string): Promise<readonly unknown[]> =>
  (await partsOf(chat)).flatMap((part) => (part.kind === 'tool' ? [part.output] : []))
const unchanged = { added: 0, changed: 0, gone: 0 }

test('the file of an output that a transcript names joins the call, and stays when the file is gone', async () => {
  const written = [asked('how many trees'), readOf('a1.txt'), line('assistant', call('Read', { path: '/w/b1.txt' }))]
  writeTranscript(world.cursorHome, SLUG, 'a.jsonl', lines(...written))
  write('a1.txt', 'an appletree and a peartree')
  write('b1.txt', 'of nobody')
  await world.sync()
  expect(await outputsOf('a')).toEqual(['an appletree and a peartree', null])
  expect(await world.get('/api/search?q=in%3Atool+peartree')).toMatchObject({ total: 1 })
  expect(await world.post('/api/sync', { full: true })).toMatchObject(unchanged)
  rmSync(fileOf('a1.txt'))
  writeTranscript(world.cursorHome, SLUG, 'a.jsonl', lines(...written, asked('and now')))
  await world.sync(true)
  expect(await outputsOf('a')).toEqual(['an appletree and a peartree', null])
  expect(await world.losses()).toEqual([])
})

const harms = ['', ' ', '\0', '{', '[]', 'null', '---', 'a'.repeat(70_000), '\ud800', '<user_query>', '\n'.repeat(99)]
const moreHarms = [Buffer.from([0xff, 0xfe]), Buffer.alloc(9), Buffer.from('é'), Buffer.alloc(1024 * 1024 + 1)]
const paths = ['/x/agent-tools/../../t.txt', 'agent-tools\\n.txt', '/agent-tools/.txt', '/agent-tools/a/b.txt', 'x.txt']

test('of a harmed output nothing but itself is missing', async () => {
  const all = [...harms, ...moreHarms]
  for (const [at, text] of all.entries()) write(`h${at}.txt`, text)
  const odd = paths.map((path) => line('assistant', call('Read', { path })))
  const reads = all.flatMap((_, at) => [asked(`before${at}`), readOf(`h${at}.txt`)])
  writeTranscript(world.cursorHome, SLUG, 'h.jsonl', lines(...reads, ...odd, asked('afterall')))
  await world.sync()
  expect(await world.get('/api/search?limit=1&q=before*+OR+afterall')).toMatchObject({ total: all.length + 1 })
  expect((await outputsOf('h')).length).toBe(all.length + paths.length)
  expect(await world.get('/api/status')).toMatchObject({ issues: {} })
  expect(await world.post('/api/sync', { full: true })).toMatchObject(unchanged)
})

/** What the SDK keeps of runs, as another program reads it. @param payloads of one call's events, in order */
function writeSdkStore(agent: string, payloads: readonly unknown[]): void {
  const path = join(project(), 'sdk-agent-store', 'd41d8cd9', 'index.db')
  mkdirSync(dirname(path), { recursive: true })
  const db = new Database(path)
  db.exec(`
    create table if not exists runs (run_id text, agent_id text, status text, usage_json text);
    create table if not exists run_events (run_id text, seq integer, event_type text, payload_json text);
    delete from runs; delete from run_events
  `)
  db.prepare('insert into runs (run_id, agent_id) values (?, ?)').run('r', agent)
  const add = db.prepare(`insert into run_events values ('r', ?, 'run_stream_event', ?)`)
  for (const [at, payload] of payloads.entries())
    add.run(at, typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload))
  db.close()
}

const event = (status: string, result?: unknown) => ({
  schemaVersion: 1,
  type: 'sdk_message',
  message: {
    type: 'tool_call',
    call_id: 'c1',
    name: 'shell',
    status,
    args: {},
    ...(result === undefined ? {} : { result }),
  },
})
const shell = { type: 'tool_use', id: 'c1', name: 'shell', input: { command: 'count' } }

test.each([
  ['agent-1', { stdout: 'two peartrees' }],
  ['other', null],
])('the output of a call of %s is looked for in the SDK’s store', async (agent, output) => {
  writeSdkStore(agent, [
    event('running'),
    event('completed', { status: 'success', value: { stdout: 'two peartrees' } }),
  ])
  writeTranscript(world.cursorHome, SLUG, `${agent}.jsonl`, lines(asked('count'), line('assistant', shell)))
  await world.sync()
  expect(await outputsOf(agent)).toEqual([output])
  expect(await world.post('/api/sync', { full: true })).toMatchObject(unchanged)
})

const sdkHarms: readonly unknown[] = [
  ...['', '{', 'null', '[]', '7', Buffer.from('{}'), [], {}, { message: null }, { message: [] }, { message: 'x' }],
  ...[{ message: { type: 'tool_call' } }, { message: { type: 7, call_id: 'c1', result: 1 } }],
  ...[null, [], '', {}, { value: null }].map((result) => event('completed', result)),
  ...[{ message: { type: 'tool_call', call_id: ['c1'], result: 'x' } }, { message: { type: 'text', text: 'x' } }],
]

test('of harmed events of the SDK only themselves are missing', async () => {
  expect(sdkHarms.length).toBeGreaterThanOrEqual(20)
  writeSdkStore('agent-1', [...sdkHarms, event('completed', { value: 'sound' })])
  writeTranscript(
    world.cursorHome,
    SLUG,
    'agent-1.jsonl',
    lines(asked('count'), line('assistant', shell), asked('more')),
  )
  await world.sync()
  expect(await outputsOf('agent-1')).toEqual(['sound'])
  writeFileSync(join(project(), 'sdk-agent-store', 'd41d8cd9', 'index.db'), 'no database')
  writeTranscript(world.cursorHome, SLUG, 'agent-2.jsonl', lines(asked('again'), line('assistant', shell)))
  await world.sync(true)
  expect(await outputsOf('agent-2')).toEqual([null])
  expect(await outputsOf('agent-1')).toEqual(['sound'])
  expect(await world.get('/api/status')).toMatchObject({ issues: {} })
})
