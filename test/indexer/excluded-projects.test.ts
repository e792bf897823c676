import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isOfProject, mayBeOfProject } from '../../src/mirror/projects/exclusion.ts'
import { projectIdOf } from '../../src/mirror/projects/owners.ts'
import { CursorHome, headers } from '../helpers/cursor.ts'
import { writeDemoHome } from '../demo/write-home.ts'
import { line, lines, query, said, trust, writeTranscript } from '../helpers/eras/transcripts.ts'
import { bytesBelow } from '../helpers/oracle/canaries.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { Cursordex } from '../helpers/spawn-cursordex.ts'
import { World } from '../helpers/world.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const root = mkdtempSync(join(tmpdir(), 'cursordex-excluded-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The product on a data folder that stays. It has read Cursor. */
async function open(userDir: string, dataDir: string, projects: readonly string[], home = ''): Promise<World> {
  mkdirSync(dataDir, { recursive: true })
  const cursor = { cursorUserDir: [userDir], cursorHome: home === '' ? [] : [home] }
  const world = await World.open({ dataDir, config: { exclude: { projects } }, flags: cursor })
  await world.sync()
  return world
}

interface Chat {
  readonly id: string
  readonly title: string
  readonly titleSource: string
  readonly project: { readonly name: string } | null
}
interface Message {
  readonly id: string
  readonly parts: readonly { readonly kind: string; readonly text?: string | null }[]
}

const chatsOf = async (world: World): Promise<readonly Chat[]> =>
  (await world.get<{ items: readonly Chat[] }>('/api/chats?limit=200&subagents=true&includeEmpty=true')).items
const namesOf = async (world: World): Promise<readonly string[]> =>
  (await world.get<{ items: readonly { name: string }[] }>('/api/projects?limit=200')).items.map(({ name }) => name)
async function messagesOf(world: World, chats: readonly Chat[]): Promise<Message[]> {
  const lists = chats.map(({ id }) => world.get<{ items: Message[] }>(`/api/chats/${id}/messages?limit=200`))
  return (await Promise.all(lists)).flatMap(({ items }) => items)
}

test('nothing of an excluded project is mirrored, and all of it once it is included', async () => {
  const home = writeDemoHome(join(root, 'demo'), Date.UTC(2026, 4, 15, 13, 30))
  const all = await open(home.userDir, join(root, 'all'), [])
  const isBarred = ({ project }: Chat): boolean => ['ledger-api', 'fleet-gateway'].includes(project?.name ?? '')
  const chats = await chatsOf(all)
  const [barred, others] = [chats.filter(isBarred), chats.filter((chat) => !isBarred(chat))]
  const [messages, otherMessages] = [await messagesOf(all, barred), await messagesOf(all, others)]
  expect(barred.length).toBeGreaterThan(10)
  expect(barred.some(({ titleSource }) => titleSource === 'cursor')).toBe(true)
  await all.close()

  const dataDir = join(root, 'some')
  const some = await open(home.userDir, dataDir, ['ledger-api', '/srv/**'])
  expect(await namesOf(some)).toEqual(expect.not.arrayContaining(['ledger-api', 'fleet-gateway', '']))
  expect((await chatsOf(some)).map(({ id }) => id).toSorted()).toEqual(others.map(({ id }) => id).toSorted())
  expect(await messagesOf(some, others)).toEqual(otherMessages)
  expect(await some.post('/api/sync')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  await some.close()
  const bytes = bytesBelow(dataDir)
  // Words of the mirror's schema are in every mirror.
  const empty = join(root, 'empty')
  await (await open(join(root, 'no-cursor'), empty, [])).close()
  const elsewhere = `${JSON.stringify([others, otherMessages])}${bytesBelow(empty)}`.toLowerCase()
  const texts = messages.flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []))
  const words = [
    ...barred.map(({ title }) => title),
    ...texts.flatMap((text) => text.match(/[\p{L}\p{N}_]{6,}/gu) ?? []),
  ]
  const own = [...new Set(words)].filter((word) => !elsewhere.includes(word.toLowerCase()))
  expect(own.length).toBeGreaterThan(100)
  expect(bytesBelow(join(root, 'all'))).toContain(latin(own.find((word) => word.length > 12) ?? ''))
  expect(own.filter((word) => bytes.includes(latin(word)))).toEqual([])

  const again = await open(home.userDir, dataDir, ['/srv/**'])
  const ledger = barred.filter(({ project }) => project?.name === 'ledger-api')
  expect(
    (await chatsOf(again))
      .filter(isBarred)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ledger.map(({ id }) => id).toSorted())
  await again.close()
  const whole = await open(home.userDir, dataDir, [])
  // When a deletion was noticed differs.
  const facts = (list: readonly Chat[]) => list.map((chat) => ({ ...chat, deletedAt: null })).toSorted(byId)
  expect(facts(await chatsOf(whole))).toEqual(facts(chats))
  expect((await messagesOf(whole, barred)).toSorted(byId)).toEqual(messages.toSorted(byId))
})

const byId = (one: { readonly id: string }, other: { readonly id: string }): number => (one.id < other.id ? -1 : 1)
/** As `bytesBelow` shows it. */
const latin = (text: string): string => Buffer.from(text).toString('latin1')

function addChat(home: CursorHome, id: string, word: string, project: string): void {
  const store = home.global()
  const fullConversationHeadersOnly = headers(['m1', 'm2'])
  store.chat(id, { name: `Title ${word}`, createdAt: Date.UTC(2026, 0, 5), fullConversationHeadersOnly })
  for (const [at, each] of ['m1', 'm2'].entries()) {
    store.message(id, each, { type: at + 1, text: `${word} ${each}`, createdAt: '2026-01-05T09:00:00Z' })
  }
  home.workspace(`w-${id}`, { folder: `file:///code/${project}` }, [id])
  home.close()
}

test('chats that were mirrored before stay as they are, and the start names the purge that removes them', async () => {
  const home = new CursorHome(join(root, 'home'))
  addChat(home, 'open-1', 'quince', 'public')
  addChat(home, 'secret-1', 'medlar', 'secret')
  const dataDir = join(root, 'before')
  await (await open(home.userDir, dataDir, [])).close()
  const world = await open(home.userDir, dataDir, ['secret'])
  // A new message, a new chat and a deletion of the excluded project.
  const store = home.global()
  store.message('secret-1', 'm3', { type: 1, text: 'persimmon', createdAt: '2026-01-05T10:00:00Z' })
  store.delete('bubbleId:secret-1:m2')
  store.delete('bubbleId:open-1:m2')
  store.close()
  addChat(home, 'secret-2', 'sorrel', 'secret')
  await world.sync(true)
  expect(await world.losses()).toEqual(['message open-1 m2'])
  expect((await chatsOf(world)).map(({ id }) => id).toSorted()).toEqual(['open-1', 'secret-1'])
  expect((await world.thread('secret-1')).map(([id]) => id)).toEqual(['m1', 'm2'])
  await world.close()
  for (const word of ['persimmon', 'sorrel']) expect(bytesBelow(dataDir)).not.toContain(word)

  const config = join(root, 'config.json')
  writeFileSync(config, JSON.stringify({ exclude: { projects: ['secret'] } }))
  const daemon = await RunningDaemon.start({ userDirs: [home.userDir], dataDir, flags: ['--config', config] })
  await daemon.waitReady()
  await daemon.stop()
  const sentence =
    /The mirror has 1 chat of secret \(\/code\/secret\).*?: (?:npx )?cursordex (purge --project \w+ --yes)/
  const [, command = ''] = sentence.exec(daemon.stderr) ?? []
  expect(command).toContain(projectIdOf('file:///code/secret'))
  const flags = ['--data-dir', dataDir, '--cursor-user-dir', home.userDir, '--config', config]
  const { exitCode, stderr } = await new Cursordex([...command.split(' '), ...flags]).ended
  expect([exitCode, stderr.includes('purge')]).toEqual([0, false])
  const after = await open(home.userDir, dataDir, ['secret'])
  expect((await chatsOf(after)).map(({ id }) => id)).toEqual(['open-1'])
  await after.close()
  expect(bytesBelow(dataDir)).not.toContain('medlar')
})

test('a subagent of an excluded chat is excluded', async () => {
  const home = new CursorHome(join(root, 'agents'))
  addChat(home, 'parent', 'quince', 'secret')
  const store = home.global()
  const parent = { createdAt: Date.UTC(2026, 0, 5), fullConversationHeadersOnly: headers(['m1', 'm2']) }
  store.chat('parent', { ...parent, name: 'Title', subagentComposerIds: ['child'] })
  const dataDir = join(root, 'agents-data')
  const world = await open(home.userDir, dataDir, ['/code/*'])
  store.chat('child', parent)
  for (const id of ['m1', 'm2']) store.message('child', id, { type: 1, text: 'medlar' })
  home.close()
  await world.sync()
  expect(await chatsOf(world)).toEqual([])
  await world.close()
  expect(bytesBelow(dataDir)).not.toContain('medlar')
})

test.each(cases<[pattern: string, isMatch: boolean]>('patterns'))(
  'the pattern %s for /home/ada/code/shop: %s',
  (pattern, isMatch) => {
    const shop = { uri: 'file:///home/ada/code/shop', path: '/home/ada/code/shop', name: 'shop' }
    expect(isOfProject(shop, [pattern])).toBe(isMatch)
  },
)

test('a path of Windows may have backslashes', () => {
  const project = { uri: 'file:///c%3A/Users/ada/code/shop', path: 'c:/Users/ada/code/shop', name: 'shop' }
  expect(isOfProject(project, [String.raw`C:\Users\ada\*\shop`])).toBe(true)
})

// Names of folders that no disk of this machine has.
test.each(cases<[slug: string, isLeftOut: boolean, pattern: string]>('slugs'))(
  'the transcripts of %s are left out: %s, if %s is excluded',
  (slug, isLeftOut, pattern) => {
    expect(mayBeOfProject(slug, [pattern])).toBe(isLeftOut)
  },
)

test('transcripts of an excluded project whose folder is gone are left out, also if a window had no folder for a while', async () => {
  const home = new CursorHome(join(root, 'transcripts'))
  home.global().close()
  const cursorHome = join(home.root, '.cursor')
  const say = (slug: string, id: string, word: string): string =>
    writeTranscript(
      cursorHome,
      slug,
      `${id}.jsonl`,
      lines(line('user', said(query(word))), line('assistant', said(`${word} too`))),
    )
  say('gone-secret', 'plain', 'medlar')
  say('gone-secret-team-code-workspace', 'workspace', 'sorrel')
  say('gone-secret', 'parent', 'quince')
  say('gone-secret', 'parent/subagents/child', 'persimmon')
  say('gone-diary', 'named', 'damson')
  say('gone-known', 'known', 'mulberry')
  say('gone-public', 'public', 'walnut')
  say('empty-window', 'window', 'hazel')
  say('trusted', 'trusted', 'chestnut')
  trust(cursorHome, 'trusted', '/gone/trusted')
  // Its folder could be that of an excluded project, but a workspace names the chat's project.
  say('gone-secret', 'placed', 'filbert')
  home.workspace('w-placed', { folder: 'file:///code/public' }, ['placed']).close()
  home.workspace('w', { folder: 'file:///gone/known' }, []).close()
  const dataDir = join(root, 'transcripts-data')
  await (await open(home.userDir, dataDir, ['/gone/**'], cursorHome)).close()
  const some = await open(home.userDir, join(root, 'some-data'), ['/gone/secret', 'diary'], cursorHome)
  const ids = async (of: World): Promise<readonly string[]> => (await chatsOf(of)).map((chat) => chat.id).toSorted()
  expect(await ids(some)).toEqual(['known', 'placed', 'public', 'trusted', 'window'])
  expect(await some.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
  await some.close()
  for (const word of ['medlar', 'sorrel', 'quince', 'persimmon', 'damson'])
    expect(bytesBelow(join(root, 'some-data'))).not.toContain(word)
  for (const word of ['mulberry', 'medlar', 'walnut', 'chestnut']) expect(bytesBelow(dataDir)).not.toContain(word)
  expect(bytesBelow(dataDir)).toContain('hazel')

  // An id tells no path, but the mirror knows this project from a workspace.
  say('gone-known', 'known-later', 'elder')
  const later = await open(home.userDir, join(root, 'some-data'), [projectIdOf('file:///gone/known')], cursorHome)
  const all = ['child', 'known', 'named', 'parent', 'placed', 'plain', 'public', 'trusted', 'window', 'workspace']
  expect(await ids(later)).toEqual(all)
})
