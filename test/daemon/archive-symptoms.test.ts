import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { listRunNames, readManifest } from '../../src/api/archives/manifest-files.ts'
import type { PruneOrder } from '../../src/api/archives/prune.ts'
import { startArchiveHere } from '../../src/engine/archive-here.ts'
import type { StartArchiveWork } from '../../src/engine/archive-process.ts'
import { Archives } from '../../src/engine/archives/archives.ts'
import { deferred } from '../../src/engine/deferred.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { seedMirror, type SeededMirror } from '../helpers/seed-mirror.ts'

function archivesOf(dir: string, mirrorPath: string, start: StartArchiveWork): Archives {
  const dataDir = dirname(dir)
  const setup = { dir, dataDir, mirrorPath, version: '1.2.3', zone: () => 'UTC', canRestore: true }
  return new Archives(setup, {
    now: Date.now,
    start,
    restore: () => Promise.reject(new Error('nobody writes here')),
    tell: () => undefined,
    say: () => undefined,
  })
}

const NAME = '20260201T030000Z-weekly'
const LATER = '20260201T030107Z-weekly'

interface Machine extends Pick<SeededMirror, 'path'> {
  readonly chatId: string
}

/** Two data folders with one folder for archives: two computers, or two people. */
async function withTwo(act: (dir: string, ours: Machine, theirs: Machine) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cursordex-shared-'))
  const mirrors = ['ours', 'theirs'].map((chatId) => {
    const mirror = seedMirror()
    mirror.addMessage(mirror.addChat({ id: chatId, messageCount: 1 }), { id: 'm1', position: 0 })
    // What is seeded is all of one mirror's.
    mirror.writer.prepare('update identity set id = ?').run(chatId)
    return { mirror, machine: { path: mirror.path, chatId } }
  })
  try {
    const [ours, theirs] = mirrors.map(({ machine }) => machine)
    if (ours !== undefined && theirs !== undefined) await act(join(root, 'archives'), ours, theirs)
  } finally {
    for (const { mirror } of mirrors) mirror.dispose()
    rmSync(root, { recursive: true, force: true })
  }
}

async function makeRunOf(dir: string, { path }: Machine, name: string, prune: PruneOrder | null = null) {
  const order = { kind: 'run', dir, mirrorPath: path, name, scope: null, timeZone: 'UTC', version: '1', prune } as const
  return startArchiveHere(order, () => undefined).result
}

const chatsOf = (dir: string): string[][] =>
  listRunNames(dir).map((name) => {
    const read = readManifest(dir, name)
    return [name, ...(read.kind === 'sound' ? read.value.chats.map(({ id }) => id) : [])]
  })

test('a run whose name another mirror took fails, and the other run stays', () =>
  withTwo(async (dir, ours, theirs) => {
    await makeRunOf(dir, ours, NAME)
    await expect(makeRunOf(dir, theirs, NAME)).rejects.toThrow(/^Another program just made the archive /)
    expect(chatsOf(dir)).toEqual([[NAME, 'ours']])
  }))

test('what one mirror keeps of a job removed the runs of another mirror’s job of that name', () =>
  withTwo(async (dir, ours, theirs) => {
    const prune = { job: 'weekly', keep: { daily: 0, weekly: 4, monthly: 0 }, timeZone: 'UTC' }
    await makeRunOf(dir, ours, NAME, prune)
    await makeRunOf(dir, theirs, LATER, prune)
    expect(chatsOf(dir)).toEqual([
      [NAME, 'ours'],
      [LATER, 'theirs'],
    ])
    expect(await makeRunOf(dir, ours, LATER.replace('0107', '0207'), prune)).toMatchObject({ removed: [NAME] })
  }))

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
  const archives = archivesOf(`${folder}/archives`, path, start)
  const { run, made } = archives.begin(null, null, 'UTC')
  await isWritten.promise
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'running' }])
  mayEnd.resolve(undefined)
  await made
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'verified', progress: null }])
  mirror.remove()
})
