import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takeArchiveLock } from '../../src/engine/archives/archive-job.ts'
import { headers } from '../helpers/cursor.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'

const SECRET = 'Quixotic-Vellum-42'
let place: PurgeHome

beforeEach(async () => {
  place = await PurgeHome.open()
})
afterEach(() => place.remove())

describe('of two archived chats with the text', () => {
  beforeEach(async () => {
    for (const id of ['a', 'b']) place.chat(id, [`first of ${id}: ${SECRET}`, `second of ${id}`])
    await place.archive()
  })

  test('archives are rewritten without it, and a later archive has everything that the mirror has', async () => {
    const report = await place.purge({ match: SECRET })
    expect(report).toMatchObject({ archived: 2, unread: [] })
    expect([report.found, place.filesWith(SECRET)]).toEqual([[], []])
    expect([await place.isSound(), await place.archived()]).toEqual([true, ['a2', 'b2']])
    const [name = ''] = readdirSync(join(place.archives, 'runs'))
    const manifest = readFileSync(join(place.archives, 'runs', name), 'utf8')
    expect(manifest.match(/^"sha256"/gm)).toHaveLength(1)
    expect(await place.archive()).toMatchObject({ state: 'verified', chats: 2, messages: 2 })
    expect(await place.archived()).toEqual(['a2', 'b2'])
  })

  test('a text that only an archive still has is removed there, and the message stays as it is now', async () => {
    place.store.message('a', 'a1', { type: 1, text: 'said otherwise by now', createdAt: minute(1) })
    await place.pass()
    const report = await place.purge({ match: SECRET })
    expect(report).toMatchObject({ messages: 1, archived: 2, found: [] })
    expect([await place.isSound(), await place.archived()]).toEqual([true, ['a1', 'a2', 'b2']])
  })

  test('one that is purged as a whole is removed from every archive', async () => {
    const report = await place.purge({ chats: ['a', 'nobody'] })
    expect(report).toMatchObject({ unknownChats: ['nobody'], archived: 1 })
    expect([await place.isSound(), await place.archived()]).toEqual([true, ['b1', 'b2']])
    expect(place.filesWith('second of a')).toEqual([])
  })

  test('what was purged does not come back from another archive', async () => {
    const copy = await PurgeHome.open()
    for (const id of ['a', 'b', 'c']) copy.chat(id, [`first of ${id}: ${SECRET}`, `second of ${id}`])
    await copy.archive()
    await place.purge({ match: SECRET })
    await place.purge({ chats: ['b'] })
    await place.world.post('/api/archives/newest/restore', { from: copy.archives })
    await copy.remove()
    expect(await place.messages('a')).toEqual(['a2'])
    expect(await place.messages('b')).toEqual([])
    expect(await place.messages('c')).toEqual(['c1', 'c2'])
  })

  test('if the archives cannot be written, the error says what is removed, and the next purge finishes it', async () => {
    const lock = takeArchiveLock(place.archives)
    await expect(place.purge({ match: SECRET })).rejects.toThrow(
      /Half of the purge is done: .* archives .* may still contain /,
    )
    lock.release()
    expect(await place.messages('a')).toEqual(['a2'])
    expect(place.filesWith('second of a')).not.toEqual([])
    await place.purge({ match: 'something else' })
    expect(await place.archived()).toEqual(['a2', 'b2'])
  })

  test('if the folder of the archives is missing, the report says that they could not be read', async () => {
    const away = mkdtempSync(join(tmpdir(), 'cursordex-away-'))
    renameSync(place.archives, join(away, 'archives'))
    const { unread } = await place.purge({ match: SECRET })
    expect(unread).toEqual([expect.stringContaining('no archive in ')])
    renameSync(join(away, 'archives'), place.archives)
    rmSync(away, { recursive: true })
    // The earlier purge is applied too.
    await place.purge({ match: 'something else' })
    expect(await place.archived()).toEqual(['a2', 'b2'])
  })
})

describe('something in the way of an archived chat', () => {
  let elsewhere: string
  let path: string

  beforeEach(async () => {
    elsewhere = mkdtempSync(join(tmpdir(), 'cursordex-elsewhere-'))
    place.chat('a', ['quixotic'])
    await place.archive()
    const objects = join(place.archives, 'objects')
    const file = readdirSync(objects, { recursive: true, withFileTypes: true }).find((entry) => entry.isFile())
    path = join(file?.parentPath ?? '', file?.name ?? '')
  })
  afterEach(() => rmSync(elsewhere, { recursive: true, force: true }))

  /** Moves something of the archive to another place, with a link where it was. */
  function moveAway(from: string): void {
    renameSync(from, join(elsewhere, 'moved'))
    symlinkSync(join(elsewhere, 'moved'), from)
  }

  const acts: readonly (readonly [string, () => void])[] = [
    ['other bytes', () => writeFileSync(path, 'other bytes')],
    [
      'a folder',
      () => {
        rmSync(path)
        mkdirSync(path)
      },
    ],
    ['a link', () => moveAway(path)],
  ]

  test.each(acts)('%s: it is reported as damaged', async (_, act) => {
    act()
    const { unread, found } = await place.purge({ match: 'quixotic' })
    expect([unread[0], found]).toEqual([expect.stringMatching(/^object .* of chat a /), []])
  })

  test('nothing at all: the purged chat is removed from the list of its archive', async () => {
    rmSync(path)
    await place.purge({ chats: ['a'] })
    expect([await place.isSound(), await place.archived()]).toEqual([true, []])
  })

  test.each([
    ['one folder of archived chats', (): string => dirname(path)],
    ['the folder of all archived chats', (): string => join(place.archives, 'objects')],
  ])('a link to %s: it is reported as not searched', async (_, which) => {
    moveAway(which())
    const { unread } = await place.purge({ match: 'quixotic' })
    expect(unread).toContain(relative(place.folder, which()))
  })
})

describe('a chat that only the archive has', () => {
  const BORDER = minute(10)
  const inFolder = (path: string) => ({ workspaceIdentifier: { id: path, uri: { scheme: 'file', path } } })

  test('keeps its later messages with --before, even if an older run has only the earlier ones', async () => {
    place.chat('a', ['of before'])
    await place.archive()
    place.chat('a', ['of before', 'of after'])
    place.store.message('a', 'a2', { type: 2, text: 'of after', createdAt: minute(20) })
    // Without messages, and created later.
    const atMs = Date.parse(minute(50))
    place.store.chat('e', { name: 'Begun after', createdAt: atMs, lastUpdatedAt: atMs })
    await place.archive()
    await place.wipe()
    await place.purge({ before: BORDER })
    expect(await place.archived()).toEqual(['a2', 'e'])
  })

  test('loses with --before also messages with a time in the list of the chat only', async () => {
    const list = ['h1', 'h2'].map((bubbleId, index) => ({ bubbleId, type: index + 1, createdAt: minute(index + 1) }))
    place.store.chat('h', { name: 'H', createdAt: Date.parse(minute(1)), fullConversationHeadersOnly: list })
    place.store.message('h', 'h1', { type: 1, text: 'old words' })
    place.store.message('h', 'h2', { type: 2, text: 'old words, too' })
    await place.archive()
    expect(await place.archived()).toEqual(['h1', 'h2'])
    await place.wipe()
    await place.purge({ before: BORDER })
    expect(await place.archived()).toEqual([])
  })

  test('is removed with its subagents at any depth, also those that only the parent names', async () => {
    place.chat('p', ['said in p'], { subagentComposerIds: ['c', 'named'] })
    place.chat('c', ['said in c'], { subagentInfo: { parentComposerId: 'p' } })
    place.chat('g', ['said in g'], { subagentInfo: { parentComposerId: 'c' } })
    place.chat('named', ['said in named'])
    place.chat('other', ['said in other'])
    await place.archive()
    await place.wipe()
    await place.purge({ chats: ['p'] })
    expect(await place.archived()).toEqual(['other1'])
  })

  test('is not reported as unknown, but by a dry run', async () => {
    place.chat('a', ['of before'])
    await place.archive()
    await place.wipe()
    expect(await place.look({ chats: ['a', 'b'] })).toMatchObject({ unknownChats: ['a', 'b'] })
    expect(await place.purge({ chats: ['a', 'b'] })).toMatchObject({ unknownChats: ['b'] })
  })

  test('is removed as a whole if it is named, whatever the archive has of it', async () => {
    place.chat('a', ['of before', 'of after'])
    await place.archive()
    await place.wipe()
    place.chat('a', ['of before'])
    await place.pass()
    await place.purge({ chats: ['a'] })
    expect(await place.archived()).toEqual([])
  })

  test('stays with --project if it was in the project only when it was archived', async () => {
    place.chat('a', ['said in a'], inFolder('/home/ada/shop'))
    place.chat('b', ['said in b'], inFolder('/home/ada/shop'))
    await place.archive()
    await place.wipe()
    place.chat('a', ['said in a'], inFolder('/home/ada/garden'))
    place.chat('b', ['said in b'], inFolder('/home/ada/shop'))
    await place.pass()
    await place.purge({ projects: ['shop'] })
    expect(await place.archived()).toEqual(['a1'])
    await place.purge({ projects: ['garden'] })
    expect(await place.archived()).toEqual([])
  })
})

describe('a purge that is limited keeps the same words elsewhere:', () => {
  const words = 'run the walnut tests'

  test('in a chat that was not named, in its title, in archives and in a later archive', async () => {
    for (const id of ['a', 'b']) place.chat(id, [words, `done in ${id}`], { name: 'Fix the walnut bug' })
    await place.archive()
    const report = await place.purge({ chats: ['a'], match: 'walnut' })
    expect(report).toMatchObject({ messages: 1, found: null })
    expect(await place.messages('b')).toEqual(['b1', 'b2'])
    expect(await place.archived()).toEqual(['a2', 'b1', 'b2'])
    expect(await place.archive()).toMatchObject({ state: 'verified', messages: 3 })
    const lastUpdatedAt = Date.parse(minute(30))
    place.chat('b', [words, 'done in b'], { name: 'Fix the walnut bug', lastUpdatedAt })
    await place.pass()
    expect(await place.world.get('/api/chats/b')).toMatchObject({ title: 'Fix the walnut bug' })
  })

  test('in later messages of the archives', async () => {
    place.chat('a', [words, 'done in a', words])
    place.store.message('a', 'a3', { type: 1, text: words, createdAt: minute(20) })
    await place.archive()
    await place.purge({ match: 'walnut', before: minute(10) })
    expect(await place.archived()).toEqual(['a2', 'a3'])
  })
})

test('a purge does not change which state of a chat is the newest, and a restore brings that back', async () => {
  for (const texts of [['said first'], ['said first', 'quixotic'], ['said first', 'quixotic', 'said last']]) {
    place.chat('a', texts)
    await place.archive()
  }
  await place.purge({ match: 'quixotic' })
  expect(await place.archived()).toEqual(['a1', 'a3'])
  for (const key of ['composerData:a', 'bubbleId:a:a3']) place.store.delete(key)
  place.store.chat('a', { name: 'renamed', fullConversationHeadersOnly: headers(['a1', 'a4']) })
  place.store.message('a', 'a4', { type: 2, text: 'said at the very end', createdAt: minute(9) })
  await place.archive()
  await place.purge({ match: 'zephyrian' })
  expect(await place.archived()).toEqual(['a1', 'a3', 'a4'])
})
