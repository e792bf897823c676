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

test.runIf(process.platform !== 'win32')(
  'a daemon is found after its daemon.json was removed, reported while it is suspended, and ends cleanly although the file cannot be removed',
  async () => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    const content = place.readDaemonFile()
    rmSync(daemonFile())
    const { exitCode, stdout } = await place.run(['chats'])
    expect(exitCode).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    await waitUntil('daemon.json', () => existsSync(daemonFile()))
    expect(place.readDaemonFile()).toEqual(content)
    daemon.signal('SIGSTOP')
    const refused = await place.run(['chats'])
    expect(refused).toMatchObject({ exitCode: 3, stdout: '' })
    expect(refused.stderr).toContain('Another cursordex uses the data folder')
    daemon.signal('SIGCONT')
    expect(await place.run(['chats'])).toMatchObject({ exitCode: 0 })
    // Like a folder that became read-only, which root would not notice.
    rmSync(daemonFile())
    mkdirSync(daemonFile())
    expect(await daemon.stop()).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('bug') })
    expect(existsSync(join(place.dataDir, 'mirror.db-wal'))).toBe(false)
  },
)

test.runIf(process.platform !== 'win32')(
  'a daemon whose data folder was moved ends and says so, and leaves another folder there its daemon.json',
  async () => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    renameSync(place.dataDir, join(place.root, 'elsewhere'))
    mkdirSync(place.dataDir, { mode: 0o700 })
    const second = await place.serve()
    const content = readFileSync(daemonFile(), 'utf8')
    const said = `The data folder ${place.dataDir}, or the daemon.lock in it, was moved, removed or replaced`
    expect(await daemon.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(said) })
    expect(readFileSync(daemonFile(), 'utf8')).toBe(content)
    expect(await untilReady(second.url)).toMatchObject({ counts: { chats: 2 } })
  },
)
