import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { listRunNames, readManifest } from '../../src/api/archives/manifest-files.ts'
import type { PruneOrder } from '../../src/api/archives/prune.ts'
import type { Executor } from '../../src/engine/executor/executor.ts'
import { InlineExecutor } from '../../src/engine/executor/inline-executor.ts'
import type { ArchiveInput, ArchiveResult } from '../../src/engine/jobs/archive.ts'
import { openReader } from '../../src/mirror/open.ts'
import { Archives } from '../../src/engine/archives/archives.ts'
import { deferred } from '../../src/engine/deferred.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'
import { seedMirror, type SeededMirror } from '../helpers/seed-mirror.ts'

/** Runs an archive job. @param make the real job */
type MakeRun = (input: ArchiveInput, make: () => Promise<ArchiveResult>) => Promise<ArchiveResult>

const makeOn = (mirrorPath: string, input: ArchiveInput): Promise<ArchiveResult> =>
  new InlineExecutor(mirrorPath, () => openReader(mirrorPath)).run('archive', input)

function archivesOf(dir: string, mirrorPath: string, run: MakeRun): Archives {
  const setup = { dir, dataDir: dirname(dir), version: '1.2.3', canRestore: true }
  // Only archive jobs are run here.
  const executor = {
    run: (_: string, input: ArchiveInput) => run(input, () => makeOn(mirrorPath, input)),
  } as unknown as Executor
  return new Archives(setup, {
    now: Date.now,
    executor,
    restore: () => Promise.reject(new Error('nobody writes here')),
    publish: () => undefined,
    log: () => undefined,
  })
}

const NAME = '20260201T030000Z-weekly'
const LATER = '20260201T030107Z-weekly'

interface Machine extends Pick<SeededMirror, 'path'> {
  readonly chatId: string
}

/** Two data folders that share an archive folder, as two computers or two users may do. */
async function withTwo(act: (dir: string, ours: Machine, theirs: Machine) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cursordex-shared-'))
  const mirrors = ['ours', 'theirs'].map((chatId) => {
    const mirror = seedMirror()
    mirror.addMessage(mirror.addChat({ id: chatId, messageCount: 1 }), { id: 'm1', position: 0 })
    // Seeded mirrors all have the same identity.
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
  return makeOn(path, { dir, name, scope: null, timeZone: 'UTC', version: '1', prune })
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

test('pruning a job removed the runs of another mirror’s job with the same name', () =>
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

test('a run was reported as verified, with half of its progress, before its job had ended', async () => {
  const mirror = new OpenMirror()
  const isWritten = deferred<undefined>()
  const mayEnd = deferred<undefined>()
  const { folder, path } = mirror
  const archives = archivesOf(`${folder}/archives`, path, async (_, make) => {
    const done = await make()
    isWritten.resolve(undefined)
    await mayEnd.promise
    return done
  })
  const { run, made } = archives.begin(null, null, 'UTC')
  await isWritten.promise
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'running' }])
  mayEnd.resolve(undefined)
  await made
  expect(archives.list()).toMatchObject([{ name: run.name, state: 'verified', progress: null }])
  mirror.remove()
})
