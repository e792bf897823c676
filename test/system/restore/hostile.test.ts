import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'
import {
  archivedChat,
  archivedMessage,
  linesOf,
  plantChat,
  plantRun,
  type PlantedChat,
} from '../../helpers/made-archive.ts'
import { stateOf } from '../../helpers/restored-mirror.ts'
import { Cursordex } from '../../helpers/spawn-cursordex.ts'
import { World } from '../../helpers/world.ts'
import type { ArchiveRestored } from '../../../src/api/answers/archives.ts'

const cases = casesBeside(import.meta.url)

let root: string
let dir: string
let world: World

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-hostile-'))
  dir = join(root, 'archives')
  mkdirSync(dir)
  world = await World.open()
})
afterEach(async () => {
  await world.remove()
  rmSync(root, { recursive: true, force: true })
})

const restore = (): Promise<ArchiveRestored> => world.post('/api/archives/newest/restore', { from: dir })

async function chatIds(): Promise<string[]> {
  const { items } = await world.get<{ items: { id: string }[] }>('/api/chats?limit=200')
  return items.map(({ id }) => id)
}

const good = (): PlantedChat => plantChat(dir, 'good', linesOf(archivedChat('good'), [archivedMessage('g1')]))

/** A message whose parts are this JSON, which no serializer may write. */
const withParts = (id: string, parts: string): string =>
  JSON.stringify(archivedMessage(id, { parts: 'HERE' })).replace('"HERE"', () => parts)

interface HostileChat {
  readonly what: string
  readonly chat?: object
  readonly messages?: readonly Record<string, unknown>[]
  readonly parts?: string
  /** In place of all that. */
  readonly lines?: readonly string[]
}

function linesFor({ chat, messages = [], parts, lines }: HostileChat): readonly string[] {
  const said = messages.map((more) => JSON.stringify(archivedMessage('b1', more)))
  if (parts !== undefined) said.push(withParts('b1', parts))
  return lines ?? [JSON.stringify({ messageCount: said.length, ...archivedChat('bad'), ...chat }), ...said]
}

test.each(cases<HostileChat>('chats'))('a chat with $what is named, and its neighbour comes back', async (hostile) => {
  plantRun(dir, [plantChat(dir, 'bad', linesFor(writtenOut(hostile))), good()])
  const before = stateOf(root)
  expect(await restore()).toMatchObject({ ok: false, manifest: null, chats: 1, damaged: ['bad'] })
  expect(await chatIds()).toEqual(['good'])
  expect(stateOf(root)).toEqual(before)
})

interface HostileManifest {
  readonly what: string
  /** The entries, each of the good chat but for this. */
  readonly chats?: readonly Partial<PlantedChat>[]
  readonly more?: Record<string, unknown>
  readonly why: string
}

test.each(cases<HostileManifest>('manifests'))(
  'of a manifest that $what, the objects alone are believed',
  async (hostile) => {
    const { chats = [{}], more = {}, why } = writtenOut(hostile)
    plantRun(
      dir,
      chats.map((entry) => ({ ...good(), ...entry })),
      more,
    )
    expect(await restore()).toMatchObject({ chats: 1, added: 1, damaged: [], manifest: expect.stringContaining(why) })
    expect(await world.thread('good')).toHaveLength(1)
  },
)

test('ids, titles and paths that look like files or commands are treated as text, and touch no file', async () => {
  const names = cases<string>('names').map((name) => writtenOut(name))
  const chats = names.map((id) => {
    const evidence = [{ method: id, rank: 0, root: { uri: `file:///srv/${id}`, path: id, name: id, remote: null } }]
    const chat = archivedChat(id, { name: id, title: id, paths: [id], evidence, parentChatId: id, childChatIds: [id] })
    return plantChat(dir, id, linesOf(chat, [archivedMessage(id, { alias: id, model: id })]))
  })
  plantRun(dir, chats)
  const before = stateOf(root)
  const counts = { chats: names.length, damaged: [] }
  expect(await restore()).toMatchObject({ ...counts, added: names.length })
  expect(await restore()).toMatchObject({ ...counts, added: 0 })
  expect((await chatIds()).toSorted()).toEqual(names.toSorted())
  expect(stateOf(root)).toEqual(before)
  expect(
    readdirSync(world.settings.dataDir).filter((name) => !/^((mirror|index|user)\.db|daemon\.lock)/.test(name)),
  ).toEqual([])
})

test('damage under an odd name is shown on a terminal without control characters', async () => {
  const id = '\u001b]0;owned\u0007'
  plantRun(dir, [plantChat(dir, id, linesFor({ what: '', chat: { id, linesAdded: 0.5 } }))])
  const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--data-dir', join(root, 'data')]
  const { stdout, stderr, exitCode } = await new Cursordex(['archive', 'restore', '--from', dir, ...nowhere]).ended
  expect([stdout.includes('damaged chat:'), exitCode]).toEqual([true, 1])
  for (const sign of ['\u001b', '\u0007']) expect(stdout + stderr).not.toContain(sign)
})

test('half a surrogate pair in a text is replaced, and invalid times are unknown', async () => {
  const text = withParts('m', '[{"kind":"text","text":"plum \\ud800 tree"}]')
  const late = JSON.stringify(archivedMessage('n', { sentAt: '+275760-09-13T00:00:00.000Z', position: 1 }))
  const lines = [JSON.stringify({ messageCount: 2, ...archivedChat('good') }), text, late]
  plantRun(dir, [plantChat(dir, 'good', lines)])
  expect(await restore()).toMatchObject({ added: 2, damaged: [] })
  expect(await world.thread('good')).toContainEqual(['m', 0, 'plum \ufffd tree'])
  const { items } = await world.get<{ items: { id: string; createdAtSource: string }[] }>('/api/chats/good/messages')
  expect(items.map(({ id }) => id).toSorted()).toEqual(['m', 'n'])
})
