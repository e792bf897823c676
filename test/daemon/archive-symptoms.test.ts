import { expect, test } from 'vitest'
import { startArchiveHere } from '../../src/daemon/archive-here.ts'
import type { StartArchiveWork } from '../../src/daemon/archive-process.ts'
import { Archives } from '../../src/daemon/archives.ts'
import { deferred } from '../../src/daemon/deferred.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

test('a run was told as verified, and half way, before its maker had said that it is done', async () => {
  const mirror = new OpenMirror()
  const isWritten = deferred<undefined>()
  const mayEnd = deferred<undefined>()
  const start: StartArchiveWork = (order, onProgress) => {
    const work = startArchiveHere(order, onProgress)
    const told = work.result.then(async (done) => {
      isWritten.resolve(undefined)
      await mayEnd.promise
      return done
    })
    return { ...work, result: told }
  }
  const { folder, path } = mirror
  const setup = {
    dir: `${folder}/archives`,
    dataDir: folder,
    mirrorPath: path,
    version: '1.2.3',
    timeZone: 'UTC',
    canRestore: true,
  }
  const archives = new Archives(setup, {
    now: Date.now,
    start,
    restore: () => Promise.reject(new Error('nobody writes here')),
    tell: () => undefined,
    say: () => undefined,
  })
  const { run, made } = archives.begin(null, null, 'UTC')
  await isWritten.promise
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'running' }])
  mayEnd.resolve(undefined)
  await made
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'verified', progress: null }])
  mirror.remove()
})
