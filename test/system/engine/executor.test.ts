import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ARCHIVE_LOCK } from '../../../src/api/archives/manifest-files.ts'
import type { Executor } from '../../../src/engine/executor/executor.ts'
import type * as inlineExecutor from '../../../src/engine/executor/inline-executor.ts'
import type * as forkedExecutor from '../../../src/engine/executor/forked-executor.ts'
import { Compiled } from '../../helpers/compiled.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

/** Compiled, because processes run the built program. */
const inline = await Compiled.module('engine/executor/inline-executor')
const forked = await Compiled.module('engine/executor/forked-executor')
afterAll(() => [inline, forked].forEach((each) => each.remove()))

let mirror: SeededMirror
let folder: string
let damages: number
let executors: Executor[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-executor-'))
  mirror = seedMirror()
  damages = 0
  executors = []
  for (let at = 0; at < 30; at += 1) {
    mirror.addMessage(mirror.addChat({ id: `chat-${at}`, title: 'A plum tree' }), { id: `m-${at}` })
  }
})
afterEach(async () => {
  await Promise.all(executors.map((executor) => executor.close()))
  mirror.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const makers = {
  inline: async () => {
    const { InlineExecutor } = (await import(inline.url)) as typeof inlineExecutor
    return new InlineExecutor(mirror.path, () => mirror.reader)
  },
  forked: async () => {
    const { ForkedExecutor } = (await import(forked.url)) as typeof forkedExecutor
    return new ForkedExecutor(mirror.path, () => (damages += 1))
  },
}

async function open(form: keyof typeof makers): Promise<Executor> {
  const executor = await makers[form]()
  executors.push(executor)
  return executor
}

const question = { kind: 'search', request: requestOf('', { filters: { chat: ['chat-1'] } }) } as const
const searching = { question, deadlineMs: 30_000 }
const archiving = () => ({
  dir: join(folder, 'archives'),
  name: '20260101T000000Z-manual',
  scope: null,
  timeZone: 'UTC',
  version: '1',
  prune: null,
})

describe.each(['inline', 'forked'] as const)('%s: each job does its work', (form) => {
  test('a search is answered', async () => {
    const executor = await open(form)
    expect(JSON.parse(String(await executor.run('search', searching)))).toMatchObject({ total: 1, limit: 20 })
  })

  test('an archive is made with progress, and verified', async () => {
    const executor = await open(form)
    const progress: number[] = []
    const made = await executor.run('archive', archiving(), { onProgress: ({ done }) => progress.push(done) })
    expect(made).toMatchObject({ name: '20260101T000000Z-manual', packed: 30 })
    expect(progress.length).toBeGreaterThan(0)
    const verdict = await executor.run('verify', { dir: archiving().dir, share: 1 })
    expect(verdict).toMatchObject({ ok: true, soundRuns: ['20260101T000000Z-manual'] })
  })

  test('tokens are counted in slices, to the end', async () => {
    const executor = await open(form)
    const keys = new Set<number>()
    for (let isDone = false; !isDone;) {
      const slice = await executor.run('estimate', { sliceMs: 50 })
      for (const { key } of slice.estimates) keys.add(key)
      isDone = slice.isDone || keys.size >= 30
    }
    expect(keys.size).toBe(30)
    await executor.end('estimate')
  })

  test('the full-text tables are checked, and damage is found', async () => {
    const executor = await open(form)
    expect(await executor.run('check-terms', null)).toBe(true)
    mirror.writer.exec(`insert into message_terms (rowid, text) values (1, 'a plum')`)
    // SQLite otherwise protects the tables of the FTS5 index.
    mirror.writer.unsafeMode(true)
    mirror.writer.exec('delete from message_terms_data where id > 10')
    mirror.writer.unsafeMode(false)
    expect(await executor.run('check-terms', null)).toBe(false)
  })

  test('the files of archives are searched for a purge', async () => {
    const executor = await open(form)
    await executor.run('archive', archiving())
    const order = { folders: [archiving().dir], match: 'no such text' }
    expect(await executor.run('purge', { task: 'search', order })).toMatchObject({ found: [], unread: [] })
  })

  test('a failure is an error that a person can act on, with its code and hint', async () => {
    const executor = await open(form)
    mkdirSync(join(archiving().dir, ARCHIVE_LOCK), { recursive: true })
    const failing = executor.run('archive', archiving())
    await expect(failing).rejects.toMatchObject({ name: 'UserError', code: 'archive-folder' })
  })

  test('a job whose signal was aborted before does not start', async () => {
    const executor = await open(form)
    const aborted = executor.run('archive', archiving(), { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ code: 'stopped' })
  })

  test('a job ends when its signal is aborted', async () => {
    const executor = await open(form)
    const stop = new AbortController()
    const work = executor.run('archive', archiving(), { signal: stop.signal, onProgress: () => stop.abort() })
    await expect(work).rejects.toMatchObject({ code: form === 'inline' ? 'stopped' : 'archive-died' })
  })
})

describe('processes', () => {
  test('while another job runs there is one search process at most, and afterwards two again', async () => {
    const executor = await open('forked')
    const ask = () => executor.run('search', searching)
    await Promise.all([ask(), ask(), ask()])
    expect(executor.pids).toHaveLength(2)
    await executor.run('estimate', { sliceMs: 1 })
    expect(executor.pids).toHaveLength(2)
    const searches = Promise.all([ask(), ask(), ask()])
    expect(executor.pids).toHaveLength(2)
    await searches
    await executor.end('estimate')
    await Promise.all([ask(), ask(), ask()])
    expect(executor.pids).toHaveLength(2)
  })

  test('a job that is killed from outside fails, and the next one works', async () => {
    const executor = await open('forked')
    const work = executor.run('archive', archiving(), {
      onProgress: () => {
        for (const pid of executor.pids) process.kill(pid, 'SIGKILL')
      },
    })
    await expect(work).rejects.toMatchObject({ code: 'archive-died' })
    expect(await executor.run('archive', archiving())).toMatchObject({ packed: expect.any(Number) })
  })

  test('closing ends every process, and no job starts afterwards', async () => {
    const executor = await open('forked')
    const work = Promise.allSettled([executor.run('search', searching), executor.run('estimate', { sliceMs: 10_000 })])
    await new Promise((resume) => setTimeout(resume, 100))
    const { pids } = executor
    await executor.close()
    await work
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    await expect(executor.run('check-terms', null)).rejects.toMatchObject({ code: 'stopped' })
  })

  test('a search on a damaged mirror fails as damaged, and that is reported', async () => {
    mirror.writer.unsafeMode(true)
    mirror.writer.exec('delete from message_terms_data where id > 10')
    mirror.writer.unsafeMode(false)
    const executor = await open('forked')
    const plum = { kind: 'search', request: requestOf('plum') } as const
    const search = executor.run('search', { question: plum, deadlineMs: 30_000 })
    const outcome = await search.then(
      () => 'answered',
      (error: unknown) => (error as { code?: string }).code,
    )
    expect([outcome, damages]).toEqual(outcome === 'answered' ? ['answered', 0] : ['mirror-damaged', 1])
  })
})
