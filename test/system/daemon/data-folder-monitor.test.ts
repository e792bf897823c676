import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 3 })
})
afterEach(() => place.remove())

const daemonFile = () => join(place.dataDir, 'daemon.json')

test('a command finds the daemon even after somebody removed its daemon.json', async () => {
  const { url } = await place.serve()
  await untilReady(url)
  const content = place.readDaemonFile()
  rmSync(daemonFile())
  const { exitCode, stdout } = await place.run(['chats'])
  expect(exitCode).toBe(0)
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  await waitUntil('daemon.json', () => existsSync(daemonFile()))
  expect(place.readDaemonFile()).toEqual(content)
})

test.runIf(process.platform !== 'win32')(
  'a command reports a suspended daemon, and finds it again when it continues',
  async () => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    daemon.signal('SIGSTOP')
    const refused = await place.run(['chats'])
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' })
    expect(refused.stderr).toContain('Another cursordex uses the data folder')
    daemon.signal('SIGCONT')
    expect(await place.run(['chats'])).toMatchObject({ exitCode: 0 })
  },
)

test('a daemon that cannot remove its daemon.json still ends cleanly, without a WAL', async () => {
  const { daemon, url } = await place.serve()
  await untilReady(url)
  // Like a folder that became read-only, which root would not notice.
  rmSync(daemonFile())
  mkdirSync(daemonFile())
  expect(await daemon.stop()).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('bug') })
  expect(existsSync(join(place.dataDir, 'mirror.db-wal'))).toBe(false)
})

const ways: readonly [name: string, act: () => void][] = [
  ['removed', () => rmSync(place.dataDir, { recursive: true })],
  ['moved', () => renameSync(place.dataDir, join(place.root, 'elsewhere'))],
]

test.runIf(process.platform !== 'win32').each(ways)(
  'a daemon whose data folder was %s ends and says so, and does not continue as ready',
  async (_, act) => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    act()
    const { exitCode, stderr } = await daemon.ended
    expect(exitCode).toBe(1)
    expect(stderr).toContain(
      `The data folder ${place.dataDir}, or the daemon.lock in it, was moved, removed or replaced`,
    )
  },
)

test.runIf(process.platform !== 'win32')(
  'a daemon whose data folder is another by now leaves that one its daemon.json',
  async () => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    renameSync(place.dataDir, join(place.root, 'elsewhere'))
    mkdirSync(place.dataDir, { mode: 0o700 })
    const second = await place.serve()
    const content = readFileSync(daemonFile(), 'utf8')
    expect(await daemon.ended).toMatchObject({ exitCode: 1 })
    expect(readFileSync(daemonFile(), 'utf8')).toBe(content)
    expect(await untilReady(second.url)).toMatchObject({ counts: { chats: 2 } })
  },
)
