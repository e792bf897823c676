import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startIngest } from '../../src/daemon/ingest.ts'
import { KeptPlace } from '../../src/daemon/kept-place.ts'
import { takeLock } from '../../src/daemon/lock.ts'
import { waitUntil } from '../helpers/wait-until.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cursordex-full-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const told = { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: '2026-01-01T00:00:00.000Z', version: '1' }

test.runIf(existsSync('/dev/full'))(
  'a daemon that has no room for its daemon.json starts all the same, and tells once there is',
  async () => {
    // Of one that was killed.
    writeFileSync(join(folder, 'daemon.json'), '{"pid":1}')
    symlinkSync('/dev/full', join(folder, `daemon.json.${process.pid}.new`))
    const lock = takeLock(folder)
    const place = new KeptPlace(folder, lock, told)
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([])
    const read = (): unknown => JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8'))
    await waitUntil('daemon.json to be written anew', () => JSON.stringify(read()) === JSON.stringify(told))
    place.leave()
    lock.release()
  },
)

const codes = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT']

test.each(codes)('a mirror that has no room (%s) is told as a full disk, with what to do', async (code) => {
  const thread = Object.assign(new EventEmitter(), { postMessage: () => undefined }) as unknown as Worker
  const setup = { mirrorPath: join(folder, 'mirror.db'), userDirs: [], homes: [], disabledKinds: [] }
  const { opened } = startIngest(thread, setup, () => undefined)
  thread.emit('message', { kind: 'failed', code, message: 'disk I/O error', hint: null, damage: 'none' })
  await expect(opened).rejects.toMatchObject({
    code: 'disk-full',
    message: `The disk that holds ${setup.mirrorPath} is full.`,
    hint: 'Make room and try again.',
  })
})
