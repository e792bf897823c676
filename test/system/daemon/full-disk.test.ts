import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventHub } from '../../../src/daemon/server/event-hub.ts'
import { Indexing } from '../../../src/daemon/follow/indexing.ts'
import { threadWriter } from '../../../src/engine/writer/thread-writer.ts'
import { DataFolderMonitor } from '../../../src/daemon/lifecycle/data-folder-monitor.ts'
import { takeLock } from '../../../src/engine/lock.ts'
import type { Logger } from '../../../src/daemon/lifecycle/log.ts'
import { Timers } from '../../../src/daemon/follow/indexing.ts'
import { CursorHome } from '../../helpers/cursor.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cursordex-full-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const content = { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: '2026-01-01T00:00:00.000Z', version: '1' }

test.runIf(existsSync('/dev/full'))(
  'a daemon without space for its daemon.json starts, and writes the file when there is space',
  async () => {
    // The file of a killed daemon.
    writeFileSync(join(folder, 'daemon.json'), '{"pid":1}')
    symlinkSync('/dev/full', join(folder, `daemon.json.${process.pid}.new`))
    const lock = takeLock(folder)
    const place = new DataFolderMonitor(folder, lock, content)
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([])
    const read = (): object => JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8')) as object
    const isWritten = (): boolean => JSON.stringify({ ...read(), folder: undefined }) === JSON.stringify(content)
    await waitUntil('daemon.json to be written', isWritten)
    place.leave()
    lock.release()
  },
)

const codes = ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', 'ENOSPC', 'EDQUOT']

test.each(codes)('a mirror without space (%s) is reported as a full disk, with a remedy', async (code) => {
  const thread = Object.assign(new EventEmitter(), { postMessage: () => undefined }) as unknown as Worker
  const setup = { mirrorPath: join(folder, 'mirror.db'), userDirs: [], homes: [], disabledKinds: [] }
  const { opened } = threadWriter(thread, setup, () => undefined)
  thread.emit('message', { kind: 'failed', code, message: 'disk I/O error', hint: null, damage: 'none' })
  await expect(opened).rejects.toMatchObject({
    code: 'disk-full',
    message: `The disk that holds ${setup.mirrorPath} is full.`,
    hint: 'Make room and try again.',
  })
})

const missed = 'while a disk stayed full, each pass over new messages was logged and planned its own retry'
test.each([
  [missed, 0],
  ['the same happened during the indexing of earlier messages', 5],
])('%s', async (_symptom, backlog) => {
  const lines: string[] = []
  const log = { error: (_: unknown, text: string) => lines.push(text), debug: () => undefined, info: () => undefined }
  const checked = { damage: 'none', news: [], notices: [], backlog, termsCheckedAtMs: null }
  const thread: Worker = Object.assign(new EventEmitter(), {
    postMessage({ kind }: { kind?: string }) {
      const full = { kind: 'failed', code: 'SQLITE_FULL', message: '', hint: null, damage: 'none' }
      const answers = new Map<unknown, unknown>([
        [undefined, { kind: 'open' }],
        ['upkeep', { kind: 'done', outcome: checked }],
      ])
      if (kind === 'stop') thread.emit('exit')
      else setImmediate(() => thread.emit('message', answers.get(kind) ?? full))
    },
  }) as unknown as Worker
  const home = new CursorHome(folder)
  home.global()
  const nothing = () => undefined
  const indexing = new Indexing(
    thread,
    { mirrorPath: join(folder, 'mirror.db'), userDirs: [home.userDir], homes: [], disabledKinds: [] },
    {
      readers: { shut: nothing, reopen: nothing },
      executor: { run: () => Promise.reject(new Error('no job is expected')) },
      log: log as unknown as Logger,
      hub: new EventHub(),
      now: Date.now,
    },
  )
  await indexing.open()
  const later = vi.spyOn(Timers.prototype, 'later')
  for (let index = 0; index < 5; index += 1) {
    await expect(indexing.sync({ full: false })).rejects.toMatchObject({ code: 'disk-full' })
  }
  expect(lines).toHaveLength(1)
  expect(later.mock.calls.filter(([, delayMs]) => delayMs === 30_000)).toHaveLength(1)
  later.mockRestore()
  await indexing.stop()
  home.close()
})
