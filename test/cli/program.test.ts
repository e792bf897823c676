import { spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers, toolData } from '../helpers/cursor.ts'
import { fillStore, wordOf } from '../helpers/fill-store.ts'
import { GitRepository } from '../helpers/git-repository.ts'
import { cursordexBin, untilReady, Workplace } from '../helpers/spawn-cursordex.ts'

// The program as it is installed, alone and beside a daemon.

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

test('the built program finds its default settings, and refuses wrong ones with exit code 2', () => {
  const argv = [cursordexBin, 'status', '--port', 'http']
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^http\.port is "http" \(flag --port\)\.\n/)
})

test('the path of an unreadable store is printed without control characters', async () => {
  const folder = join(place.cursor.userDir, 'workspaceStorage', 'a\u001b]0;b\u0007\u009b31m')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'state.vscdb'), 'no database '.repeat(100))
  const { exitCode, stderr } = await place.run(['chats'])
  expect(exitCode).toBe(0)
  expect(stderr).toContain(String.raw`a\x1b]0;b\x07\x9b31m/state.vscdb`)
  expect(stderr).not.toMatch(/[^\n\P{Cc}]/u)
})

test('without a daemon a mistaken folder is named, and the demo as the other way to begin', async () => {
  place.cursor.global().chat('a', {})
  const chats = async (folder: string): Promise<string> => {
    const places = ['--cursor-user-dir', folder, '--cursor-home', '', '--data-dir', place.root]
    return (await place.run(['chats', ...places], { isBare: true })).stderr
  }
  expect(await chats(join(place.cursor.userDir, 'globalStorage'))).toContain('Perhaps you meant')
  expect(await chats(join(place.root, 'nowhere'))).toMatch(/No Cursor found.*: (?:npx )?cursordex demo\./s)
})

test('while Cursor has locked its store, a search says why it may lack hits, and a sync why it added nothing', async () => {
  const store = place.cursor.global()
  store.db.pragma('locking_mode = exclusive')
  store.chat('b', {})
  expect((await place.run(['search', 'plum'])).stderr).toMatch(/The mirror is not complete: busy: .*state\.vscdb/)
  const synced = JSON.parse((await place.run(['sync', '--full', '--json'])).stdout) as object
  expect(synced).toMatchObject({ added: 0, reasons: [expect.stringMatching(/^busy: .*state\.vscdb/)] })
})

test('losses prints the same with and without a daemon', async () => {
  const store = place.cursor.global()
  store.chat('a', { name: 'About a', createdAt: 1, fullConversationHeadersOnly: headers(['m1', 'm2']) })
  for (const id of ['m1', 'm2']) store.message('a', id, { type: 1, text: `${id} of a` })
  expect((await place.run(['sync'])).exitCode).toBe(0)
  store.delete('bubbleId:a:m2')
  expect((await place.run(['sync'])).exitCode).toBe(0)
  const alone = await place.run(['losses', '--json'])
  expect(JSON.parse(alone.stdout)).toMatchObject({
    items: [{ kind: 'message', chatId: 'a', messageId: 'm2', project: null, title: 'About a' }],
    total: 1,
  })
  await place.serve()
  expect((await place.run(['losses', '--json'])).stdout).toBe(alone.stdout)
  expect((await place.run(['losses', '--to', '2020-01-01'])).stderr).toContain('Nothing was lost.')
})

test('the program lists the commits of its working directory, with and without a daemon', async () => {
  const repository = new GitRepository(join(realpathSync(place.root), 'shop'))
  const atMs = Date.UTC(2026, 2, 1, 12)
  const made = repository.commit({ atMs, files: { 'src/a.ts': '1' }, subject: 'Add a' })
  mkdirSync(join(repository.root, 'src', 'deep'))
  const store = place.cursor.global()
  const act = { name: 'edit', path: 'src/a.ts', lines: ['+1'] } as const
  const toolFormerData = toolData({ kind: 'tool', act, ending: { kind: 'completed' } }, 'new', 'call')
  const createdAt = new Date(atMs - 60_000).toISOString()
  store.message('c1', 'm1', { type: 2, text: '', capabilityType: 15, toolFormerData, createdAt })
  store.chat('c1', { name: 'An addition', createdAt: atMs - 60_000, fullConversationHeadersOnly: headers(['m1']) })
  place.cursor.workspace('ws', { folder: pathToFileURL(repository.root).href }, ['c1'])
  const shownSha = `${made.slice(0, 9)}\t`
  const alone = await place.run(['commits', '--repo', join(repository.root, 'src', 'deep')])
  expect(alone).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(shownSha) })
  expect(alone.stdout).toContain('\thigh\tAn addition\t1 file, 1 message\tc1\n')
  const { url } = await place.serve()
  await untilReady(url)
  const asked = await place.run(['commits', '--repo', repository.root, '--json'])
  expect(JSON.parse(asked.stdout)).toMatchObject({ total: 1, items: [{ sha: made, chats: [{ id: 'c1' }] }] })
  const unknown = await place.run(['commits', '--repo', 'nonsense'])
  expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(repository.root) })
})

test('an export is the same with and without a daemon, also of a chat of several pages', async () => {
  fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 130, textLength: 3000 })
  const alone = await place.run(['export', 'chat-1', '--as', 'html'])
  const { daemon } = await place.serve()
  const beside = await place.run(['export', 'chat-1', '--as', 'html'])
  const missing = await place.run(['export', 'nobody'])
  await daemon.stop()
  // On a busy machine it may say that it still reads.
  expect(alone).toMatchObject({ exitCode: 0 })
  expect(alone.stdout.match(/<article /gu)).toHaveLength(130)
  expect(alone.stdout).toContain(wordOf(1, 129))
  expect(beside.stdout).toBe(alone.stdout)
  expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
  expect(missing.stderr).toMatch(/cursordex chats\n$/)
  expect(await place.run(['export', 'nobody'])).toMatchObject({ exitCode: 1, stdout: '', stderr: missing.stderr })
})
