import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { writePlainFile as write } from '../../../src/api/archives/archive-files.ts'
import type {
  ArchiveRestored,
  ArchiveRun,
  ArchiveVerdict,
  ListedArchivedChat,
} from '../../../src/api/answers/archives.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Manifest } from '../../../src/archive/archived-chat.ts'
import { headers } from '../../helpers/cursor.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { archivedChat, archivedMessage, linesOf, plantChat, plantRun, RUN } from '../../helpers/made-archive.ts'
import { actAsOther } from '../../helpers/as-other-user.ts'
import { World } from '../../helpers/world.ts'

/** What happens to packed bytes on their way to the disk. */
const disk = vi.hoisted((): { spoil: ((bytes: Buffer | string) => Buffer) | null } => ({ spoil: null }))
vi.mock('../../../src/api/archives/archive-files.ts', async (importActual) => {
  const actual = await importActual<{ writePlainFile: typeof write }>()
  const writePlainFile: typeof write = (dir, path, content) =>
    actual.writePlainFile(dir, path, disk.spoil?.(content) ?? content)
  return { ...actual, writePlainFile }
})

const isWindows = process.platform === 'win32'

let world: World
let dir: string

beforeEach(async () => {
  world = await World.open()
  dir = join(world.settings.dataDir, 'archives')
  write3('a', 'b', 'c')
  await world.sync()
})
afterEach(async () => {
  disk.spoil = null
  await world.remove()
})

/** Writes chats with two messages each. */
function write3(...ids: readonly string[]): void {
  const store = world.home.global()
  for (const id of ids) {
    store.chat(id, { name: `Chat ${id}`, fullConversationHeadersOnly: headers(['1', '2']) })
    store.message(id, '1', { type: 1, text: `asked in ${id}` })
    store.message(id, '2', { type: 2, text: `told in ${id}` })
  }
}

async function run(scope: string | null = null): Promise<ArchiveRun> {
  const { name } = await world.post<ArchiveRun>('/api/archives', scope === null ? {} : { scope })
  const read = (): Promise<ArchiveRun> => world.get(`/api/archives/${name}`)
  return waitUntil('the run', async () => {
    const answer = await read()
    return answer.state === 'running' ? null : answer
  })
}

const verify = ({ name }: ArchiveRun): Promise<ArchiveVerdict> => world.post(`/api/archives/${name}/verify`)

/** Every file below the folder but its lock, with slashes, sorted. */
function files(): string[] {
  const entries = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory() && entry.name !== '.lock',
  )
  return entries
    .map(({ parentPath, name }) =>
      join(parentPath, name)
        .slice(dir.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort()
}

const objects = (): string[] => files().filter((file) => file.startsWith('objects/'))
const objectFile = (): string => join(dir, objects()[0] ?? '')
const runFile = ({ name }: ArchiveRun): string => join(dir, 'runs', `${name}.json`)

describe('a run', () => {
  test('has every chat, is verified, and can be restored elsewhere', async () => {
    const made = await run()
    expect(made).toMatchObject({ state: 'verified', chats: 3, messages: 6, leftOut: [], error: null })
    expect([objects().length, files().length]).toEqual([3, 4])
    expect(await verify(made)).toMatchObject({ ok: true, checked: 4, damaged: [], unexpected: [] })
    const other = await World.open()
    const dry = await other.post<ArchiveRestored>('/api/archives/newest/restore', { from: dir, dryRun: true })
    expect(dry).toMatchObject({ ok: true, chats: 3, messages: 6, added: 6, addedChats: 3 })
    expect(await other.get('/api/chats')).toMatchObject({ total: 0 })
    const restored = await other.post<ArchiveRestored>('/api/archives/newest/restore', { from: dir })
    expect(restored).toMatchObject({ ok: true, chats: 3, messages: 6, added: 6, addedChats: 3, damaged: [] })
    expect(await other.thread('b')).toEqual(await world.thread('b'))
    await other.remove()
  })

  test('lists its chats by title, and says which of them the mirror has', async () => {
    const { name } = await run()
    const list = async (query: string) =>
      (await world.get<Page<ListedArchivedChat>>(`/api/archives/${name}/chats?${query}`)).items
    const all = await list('')
    expect(all.map(({ isHere }) => isHere)).toEqual([true, true, true])
    const [first] = all
    expect(await list(`q=${first?.id}`)).toContainEqual(first)
    expect(await list(`q=${encodeURIComponent(first?.title?.toUpperCase() ?? '')}`)).toContainEqual(first)
    expect(await list('q=no+such+words')).toEqual([])
    expect((await world.request('/api/archives/nothing/chats')).status).toBe(404)
    await world.post('/api/purge', { chats: [first?.id], dryRun: false })
    expect((await list('')).map(({ id }) => id)).toEqual(all.slice(1).map(({ id }) => id))
  })

  test('does not store an unchanged chat twice, and stores a changed one again', async () => {
    await run()
    const before = objects()
    const stamp = statSync(objectFile()).mtimeMs
    world.home.global().message('b', '2', { type: 2, text: 'told otherwise' })
    await world.sync(true)
    const second = await run()
    expect(objects()).toHaveLength(4)
    expect(objects()).toEqual(expect.arrayContaining(before))
    expect(statSync(join(dir, before[0] ?? '')).mtimeMs).toBe(stamp)
    expect(await verify(second)).toMatchObject({ ok: true, checked: 6 })
  })

  test('of some chats is followed by one of all, which finds them unchanged', async () => {
    expect(await run('chat:c')).toMatchObject({ state: 'verified', chats: 1, messages: 2 })
    expect(await run()).toMatchObject({ chats: 3 })
    expect(objects()).toHaveLength(3)
  })

  test('leaves out a chat with a text that is damaged in the mirror, and keeps its older state', async () => {
    await run()
    await world.restart(() => {
      const db = new Database(world.mirrorPath)
      db.exec(`update bodies set parts = '[{"kind":"te' where parts like '%asked in b%'`)
      db.close()
      // Else the text is read again from Cursor.
      world.home.global().delete('bubbleId:b:1')
    })
    world.home.global().message('b', '2', { type: 2, text: 'told otherwise' })
    await world.sync(true)
    const why = expect.stringContaining('damaged in the mirror') as string
    expect(await run()).toMatchObject({ state: 'verified', chats: 3, leftOut: [{ id: 'b', why }] })
    expect(objects()).toHaveLength(3)
    const other = await World.open()
    await other.post('/api/archives/newest/restore', { from: dir })
    expect(JSON.stringify(await other.thread('b'))).toContain('asked in b')
    await other.remove()
  })

  test('stores a missing or truncated object again', async () => {
    await run()
    const [missing = '', short = ''] = objects()
    rmSync(join(dir, missing))
    writeFileSync(join(dir, short), 'short')
    const again = await run()
    expect(await verify(again)).toMatchObject({ ok: true, damaged: [] })
  })

  test('removes the temporary files of an interrupted run, and nothing else', async () => {
    const made = await run()
    const left = [`runs/${made.name}.json.tmp`, `${objects()[0]}.tmp`]
    for (const path of left) writeFileSync(join(dir, path), 'half')
    writeFileSync(join(dir, 'runs', 'notes.txt'), 'mine')
    expect(await verify(made)).toMatchObject({ ok: false, unexpected: ['runs/notes.txt'] })
    await run()
    expect([...left, 'runs/notes.txt'].map((path) => existsSync(join(dir, path)))).toEqual([false, false, true])
  })

  test('fails if the disk returns other bytes than were written', async () => {
    disk.spoil = (bytes) => Buffer.from(bytes).reverse()
    expect(await run()).toMatchObject({ state: 'failed', error: expect.any(String) })
    expect(readdirSync(dir)).not.toContain('runs')
  })

  test('uses no hostile id or title in file names, and restores them unchanged', async () => {
    const ids = ['../../etc/passwd', '\u0001\u001b[2J', 'x'.repeat(3000), '__proto__', 'a/b\\c:d\n']
    write3(...ids)
    await world.sync()
    const made = await run()
    expect(made).toMatchObject({ state: 'verified', chats: 3 + ids.length })
    expect(files().filter((path) => !/^(runs|objects\/[0-9a-f]{2})\/[\w.-]+$/.test(path))).toEqual([])
    const other = await World.open()
    await other.post('/api/archives/newest/restore', { from: dir })
    for (const id of ids) expect(await other.thread(id)).toEqual(await world.thread(id))
    await other.remove()
  })

  test.skipIf(isWindows)('gives every folder 0700 and every file 0600', async () => {
    const made = await run()
    const paths = [dir, join(dir, 'runs'), join(dir, 'objects'), dirname(objectFile()), objectFile(), runFile(made)]
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o700, 0o700, 0o600, 0o600])
  })
})

const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 4
  writeFileSync(path, bytes)
}

describe('damage is noticed, and the chats and runs that it affects are named', () => {
  test.each<[what: string, harm: (made: ArchiveRun) => void, chats: number, runs: number]>([
    ['a bit of what an object holds', () => flip(objectFile(), 40), 1, 1],
    ['a bit of its head that nobody unpacks', () => flip(objectFile(), 4), 1, 1],
    ['an object cut off', () => truncateSync(objectFile(), 30), 1, 1],
    ['an object removed', () => rmSync(objectFile()), 1, 1],
    ['two objects swapped', swapTwo, 2, 1],
    ['a bit of a manifest', (made) => flip(runFile(made), 60), 0, 1],
    [
      'a version in a manifest',
      (made) => writeFileSync(runFile(made), readFileSync(runFile(made), 'utf8').replace('1.2.3', '1.2.4')),
      0,
      1,
    ],
    ['a manifest cut off', (made) => truncateSync(runFile(made), 200), 0, 1],
  ])('%s', async (_, harm, chats, runs) => {
    const made = await run()
    harm(made)
    const verdict = await verify(made)
    expect(verdict).toMatchObject({ ok: false })
    expect([verdict.damaged.length, verdict.damagedRuns.length]).toEqual([chats, runs])
    // All else is restored.
    const other = await World.open()
    const restored = await other.post<ArchiveRestored>('/api/archives/newest/restore', { from: dir })
    expect([restored.damaged.length, restored.chats, restored.ok]).toEqual([chats, (made.chats ?? 0) - chats, false])
    await other.remove()
  })

  function swapTwo(): void {
    const [one = '', other = ''] = objects().map((path) => join(dir, path))
    renameSync(one, join(dir, 'swap'))
    renameSync(other, one)
    renameSync(join(dir, 'swap'), other)
  }

  test.skipIf(isWindows)('a pipe in place of an object does not block', async () => {
    const made = await run()
    const path = objectFile()
    rmSync(path)
    execFileSync('mkfifo', [path])
    expect(await verify(made)).toMatchObject({ ok: false, damaged: [expect.any(String)] })
  })

  test('what does not belong there is named, but not what the operating system leaves in folders', async () => {
    const made = await run()
    for (const path of ['.DS_Store', 'runs/._DS_Store', 'runs/Thumbs.db', 'objects/desktop.ini']) {
      writeFileSync(join(dir, path), 'how its window stood')
    }
    expect(await verify(made)).toMatchObject({ ok: true, unexpected: [] })
    mkdirSync(join(dir, 'objects', '._folder'))
    expect(await verify(made)).toMatchObject({ ok: false, unexpected: ['objects/._folder'] })
  })
})

test('an archive of version 1, with a hash for each message, is listed, verified and restored', async () => {
  plantRun(dir, [plantChat(dir, 'old', linesOf(archivedChat('old'), [archivedMessage('o1'), archivedMessage('o2')]))])
  const listed = await world.get<ArchiveRun>(`/api/archives/${RUN}`)
  expect(listed).toMatchObject({ state: 'verified', chats: 1, messages: 2 })
  expect(await verify(listed)).toMatchObject({ ok: true, checked: 2, damaged: [] })
  expect(await world.post(`/api/archives/${RUN}/restore`)).toMatchObject({ ok: true, added: 2, addedChats: 1 })
})

test('a draft in an archive of version 1 counts no longer as a chat after the next run', async () => {
  world.home.global().chat('draft', { name: 'Nothing said' })
  await world.sync()
  const made = await run()
  expect(made).toMatchObject({ chats: 3 })
  const { origin, chats } = JSON.parse(readFileSync(runFile(made), 'utf8')) as Manifest
  rmSync(runFile(made))
  const former = chats.map(({ id, object, bytes, revision, messages }) => {
    return { id, object, bytes, revision, content: '', messages: Array<string>(messages).fill('') }
  })
  plantRun(dir, former, { origin })
  expect(await world.get(`/api/archives/${RUN}`)).toMatchObject({ chats: 4 })
  const before = objects()
  expect([await run(), objects()]).toMatchObject([{ state: 'verified', chats: 3 }, before])
})

describe('something in the place of an archived chat makes the run fail, and is named', () => {
  test.each<[what: string, plant: () => string]>([
    ['a folder in the place of an object', () => replaced(objectFile(), (path) => mkdirSync(path))],
    ['a file in the place of a folder', () => replaced(dirname(objectFile()), (path) => writeFileSync(path, ''))],
  ])('%s', async (_, plant) => {
    await run()
    const path = plant()
    const { state, error } = await run()
    expect([state, error]).toEqual(['failed', expect.stringContaining(path)])
  })

  test.skipIf(isWindows)('a link in the place of a folder', async () => {
    await run()
    const folder = dirname(objectFile())
    const elsewhere = join(world.settings.dataDir, 'elsewhere')
    renameSync(folder, elsewhere)
    symlinkSync(elsewhere, folder)
    expect(await run()).toMatchObject({ state: 'failed', error: expect.stringContaining(folder) })
  })

  function replaced(path: string, plant: (path: string) => void): string {
    rmSync(path, { recursive: true })
    plant(path)
    return path
  }
})

test.skipIf(isWindows)('a folder that may not be read is named', async () => {
  const made = await run()
  const folder = join(dir, 'objects')
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const ask = (): Promise<Response> => world.request(`/api/archives/${made.name}/verify`, init)
  chmodSync(folder, 0)
  const response = await actAsOther([dir, world.settings.dataDir], ask)
  chmodSync(folder, 0o700)
  const detail = expect.stringMatching(/objects cannot be read or written \(EACCES\)\. Make it readable/)
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'archive-folder', detail }])
})

test('a foreign file in the place of the lock is named, and the mirror is not taken for damaged', async () => {
  const { name } = await run()
  writeFileSync(join(dir, '.lock'), 'notes that somebody keeps here '.repeat(40))
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const response = await world.request(`/api/archives/${name}/verify`, init)
  const detail = expect.stringContaining('.lock is not a lock of cursordex. Move it away.') as string
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'archive-folder', detail }])
  expect(await run()).toMatchObject({ state: 'failed', error: expect.stringContaining('not a lock of cursordex') })
  expect(readdirSync(world.settings.dataDir).filter((file) => file.startsWith('mirror-damaged'))).toEqual([])
})

test.each([
  ['a plain file', 'file'],
  ['a path below a plain file', 'file/below'],
  ['what no path can hold', 'a\u0000b'],
  ['an empty folder', 'empty'],
])('%s is no archive, and that is said', async (_, name) => {
  const { dataDir } = world.settings
  writeFileSync(join(dataDir, 'file'), '')
  mkdirSync(join(dataDir, 'empty'))
  const body = JSON.stringify({ from: join(dataDir, name) })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const response = await world.request('/api/archives/newest/restore', init)
  expect([response.status < 500, await response.json()]).toMatchObject([true, { code: 'archive-not-found' }])
})
