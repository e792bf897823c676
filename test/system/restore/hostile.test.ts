import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { proveChat } from '../../../src/api/archives/prove-object.ts'
import { unpackLines } from '../../../src/api/archives/unpack-lines.ts'
import { lineHash } from '../../../src/archive/chat-file.ts'
import type { ChatEntry } from '../../../src/archive/manifest.ts'
import { leastOfThree, startCpuClock } from '../../helpers/cpu-time.ts'
import { plant } from '../../helpers/harms.ts'
import { archivedChat, archivedMessage, linesOf, plantChat, plantRun } from '../../helpers/made-archive.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'
import { chatsIn, restoreHere, stateOf, wordsIn } from '../../helpers/restored-mirror.ts'
import { Cursordex } from '../../helpers/spawn-cursordex.ts'

let root: string
let dir: string
let opened: OpenMirror

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-hostile-'))
  dir = join(root, 'archives')
  mkdirSync(dir)
  opened = new OpenMirror()
})
afterEach(() => {
  opened.remove()
  rmSync(root, { recursive: true, force: true })
})

const good = (): ChatEntry => plantChat(dir, 'good', linesOf(archivedChat('good'), [archivedMessage('g1')]))

/** `depth` nested lists. */
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const tool = (input: string): string =>
  `{"kind":"tool","name":"x","status":"completed","callId":null,"input":${input},"output":null,"error":null,"paths":[]}`
const withParts = (id: string, parts: string): string =>
  JSON.stringify(archivedMessage(id, { parts: 'HERE' })).replace('"HERE"', () => `[${parts}]`)

const one = (chat: object, ...messages: string[]): string[] => [
  JSON.stringify({ messageCount: messages.length, ...archivedChat('bad'), ...chat }),
  ...messages,
]
const said = (more: object): string => JSON.stringify(archivedMessage('b1', { ...more }))

test.each<[what: string, lines: readonly string[], why: RegExp]>([
  ['an origin that is a path', one({ origin: '../../somewhere' }), /origin/],
  ['an origin of control characters', one({ origin: '\u001b[2J' }), /origin/],
  ['half a character as an id', one({ id: '\ud800' }), /half a character|another chat/],
  ['half a character as a message’s id', one({}, said({ id: 'x\udc00' })), /half a character/],
  ['lines that are no whole number', one({ linesAdded: 1.5 }), /linesAdded/],
  ['sizes that no sum can hold', one({}, said({ octets: 2 ** 53 - 1 })), /octets/],
  ['a size below nothing', one({ octets: -1 }), /octets/],
  ['tokens that are none', one({}, said({ tokens: { input: 1e300, output: 0 } })), /tokens/],
  ['a place below the first', one({}, said({ position: -1 })), /position/],
  ['somebody else’s role', one({}, said({ role: 'system' })), /role/],
  ['a part of no kind', one({}, said({ parts: [{ kind: 'script', text: 'x' }] })), /parts/],
  ['a part that is a list', one({}, said({ parts: [[]] })), /parts/],
  ['a member more', one({ command: 'rm' }), /command is extra/],
  ['another format', one({ format: 'cursordex-archive' }), /format/],
  ['a time that is none', one({ createdAt: 'yesterday' }), /createdAt/],
  ['two messages of one id', one({}, said({}), said({ role: 'assistant' })), /one id/],
  ['fewer messages than it says', one({ messageCount: 7 }, said({})), /7/],
  ['a tool’s input of a hundred thousand lists', one({}, withParts('b1', tool(nested(100_000)))), /too deep/],
  ['a first line of a hundred thousand lists', [nested(100_000)], /too deep|does not start like/],
  ['a line that is no JSON', one({}, '{"id":'), /not JSON/],
  ['nothing at all', [], /it is empty/],
])('a chat with %s is named, and its neighbour comes back', async (_, lines, why) => {
  plantRun(dir, [plantChat(dir, 'bad', lines), good()])
  const before = stateOf(root)
  const restored = await restoreHere(opened.db, dir)
  expect(restored).toMatchObject({ why: null, chats: 1, damaged: [{ id: 'bad' }] })
  expect(restored.damaged[0]?.why).toMatch(why)
  expect(chatsIn(opened.db)).toEqual(['good'])
  expect(stateOf(root)).toEqual(before)
})

const odd = [
  '../../../etc/passwd',
  '/etc/passwd',
  'a\nb\r\u0000c',
  '\u001b]0;owned\u0007\u001b[2J',
  'C:\\Windows\\system32',
  '__proto__',
  '.'.repeat(10_000),
]

test('ids, titles and paths that look like files or commands are treated as text, and touch no file', async () => {
  const chats = odd.map((id) => {
    const evidence = [{ method: id, rank: 0, root: { uri: `file:///srv/${id}`, path: id, name: id, remote: null } }]
    const chat = archivedChat(id, { name: id, title: id, paths: [id], evidence, parentChatId: id, childChatIds: [id] })
    return plantChat(dir, id, linesOf(chat, [archivedMessage(id, { alias: id, model: id })]))
  })
  plantRun(dir, chats)
  const before = stateOf(root)
  expect(await restoreHere(opened.db, dir)).toMatchObject({ chats: odd.length, added: odd.length, damaged: [] })
  expect(await restoreHere(opened.db, dir)).toMatchObject({ chats: odd.length, added: 0, damaged: [] })
  expect(chatsIn(opened.db)).toEqual(odd.toSorted())
  expect(stateOf(root)).toEqual(before)
  const files = stateOf(opened.folder).map((line) => line.split(' ')[0])
  expect(files.every((file) => /mirror\.db(-wal|-shm)?$/.test(file ?? ''))).toBe(true)
})

test('damage under an odd name is shown on a terminal without control characters', async () => {
  const id = '\u001b]0;owned\u0007'
  plantRun(dir, [plantChat(dir, id, one({ id, linesAdded: 0.5 }))])
  const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--data-dir', join(root, 'data')]
  const { stdout, stderr, exitCode } = await new Cursordex(['archive', 'restore', '--from', dir, ...nowhere]).ended
  expect([stdout.includes('damaged chat:'), exitCode]).toEqual([true, 1])
  for (const sign of ['\u001b', '\u0007']) expect(stdout + stderr).not.toContain(sign)
})

test.each<[what: string, plantIt: () => void, why: RegExp]>([
  [
    'names a file in place of an object',
    () => plantRun(dir, [{ ...good(), object: '../../../../etc/passwd' }]),
    /SHA-256/,
  ],
  ['names an object in capitals', () => plantRun(dir, [{ ...good(), object: good().object.toUpperCase() }]), /SHA-256/],
  ['names a chat twice', () => plantRun(dir, [good(), good()]), /twice/],
  ['counts wrongly', () => plantRun(dir, [good()], { chatCount: 5 }), /counts/],
  ['has another name', () => plantRun(dir, [good()], { name: '20200101T000000Z-x' }), /names itself/],
  [
    'has a scope of a thousand lists',
    () => plantRun(dir, [good()], { scope: JSON.parse(nested(1000)) as null }),
    /too deep/,
  ],
  ['says more than it may', () => plantRun(dir, [good()], { post: 'x' }), /extra/],
])('of a manifest that %s, the objects alone are believed', async (_, plantIt, why) => {
  plantIt()
  const restored = await restoreHere(opened.db, dir)
  expect(restored).toMatchObject({ chats: 1, added: 1, damaged: [] })
  expect(restored.why).toMatch(why)
  expect(wordsIn(opened.db)).toHaveLength(1)
})

test('a line that unpacks to a thousand times its size is not unpacked completely', async () => {
  const text = `{"format":"cursordex-chat","version":1,"id":"${'a'.repeat(400 * 1024 * 1024)}"}\n`
  const packed = gzipSync(text, { level: 9 })
  expect(packed.length).toBeLessThan(1024 * 1024)
  let bytes = 0
  const unpacked = async (): Promise<void> => {
    for await (const line of unpackLines(packed, (chunk) => (bytes += chunk.length))) expect(line).toBe('')
  }
  await expect(unpacked()).rejects.toThrow(/longer than any message/)
  expect(bytes).toBeLessThan(130 * 1024 * 1024)
  const zeros = plant(dir, gzipSync(Buffer.alloc(400 * 1024 * 1024)))
  const claim = { id: 'bad', content: zeros, bytes: 400_000, messages: [] }
  const proving = async (): Promise<number> => {
    const cpuMs = startCpuClock()
    expect(await proveChat(dir, zeros, { ...claim, bytes: 1 })).toMatchObject({ kind: 'damaged' })
    expect(await proveChat(dir, zeros, null)).toMatchObject({
      kind: 'damaged',
      why: expect.stringMatching(/does not start like/),
    })
    return cpuMs()
  }
  // Unpacking all of it would take a second.
  expect(await leastOfThree(300, proving)).toBeLessThan(300)
})

test('half a surrogate pair in a text is replaced, and invalid times are unknown', async () => {
  const text = withParts('m', '{"kind":"text","text":"plum \\ud800 tree"}')
  const late = JSON.stringify(archivedMessage('n', { sentAt: '+275760-09-13T00:00:00.000Z' }))
  const later = JSON.stringify(archivedMessage('o', { sentAt: '+275760-09-13T00:00:00.000Z' }))
  const lines = [JSON.stringify({ messageCount: 3, ...archivedChat('good') }), text, late, later]
  plantRun(dir, [plantChat(dir, 'good', lines)])
  expect(lines.slice(1).map(lineHash)).toHaveLength(3)
  expect(await restoreHere(opened.db, dir)).toMatchObject({ added: 3, damaged: [] })
  expect(wordsIn(opened.db).find((word) => word.includes('plum'))).toContain('plum \ufffd tree')
  const times = opened.db.prepare('select distinct sent_at from messages where id in (?, ?)').pluck().all('n', 'o')
  expect(times).toEqual([null])
})
