import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import type * as searchPool from '../../../src/engine/executor/search-pool.ts'
import { Compiled } from '../../helpers/compiled.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { SearchAnswer } from '../../../src/api/http/schemas/search.ts'

/** Compiled, because its child processes run the built program. */
const compiled = await Compiled.module('engine/executor/search-pool')
afterAll(() => compiled.remove())
const canStop = process.platform !== 'win32'
/** A deadline that a test waits for. Even on a busy machine a process starts and answers a small question within it. */
const SHORT_MS = 3000

type Pool = searchPool.SearchPool & { asking(): Promise<SearchAnswer> }

let mirror: SeededMirror
let pools: searchPool.SearchPool[]
beforeEach(() => {
  mirror = seedMirror()
  pools = []
  const chat = mirror.addChat({ id: 'one', title: 'A plum tree' })
  mirror.addMessage(chat, { id: 'm' })
})
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()))
  mirror.dispose()
})

/** With a deadline that is long enough for a process to start on a busy machine. */
async function openPool(deadlineMs = 30_000): Promise<Pool> {
  const made = (await import(compiled.url)) as typeof searchPool
  const pool = new made.SearchPool(mirror.path)
  pools.push(pool)
  return Object.assign(pool, { asking: async () => JSON.parse(await pool.ask(all, deadlineMs)) as SearchAnswer })
}

const all = { kind: 'search', request: requestOf('', { filters: { chat: ['one'] } }) } as const
const askThrice = (pool: Pool) => [pool.asking(), pool.asking(), pool.asking()]

test('at most two searches run at a time, and the others wait and are answered', async () => {
  const pool = await openPool()
  const counts: number[] = []
  const answers = Array.from({ length: 7 }, async () => {
    const answer = await pool.asking()
    counts.push(pool.pids.length)
    return answer.total
  })
  expect(pool.pids).toHaveLength(2)
  expect(await Promise.all(answers)).toEqual([1, 1, 1, 1, 1, 1, 1])
  expect(Math.max(...counts)).toBe(2)
})

test('while memory is shared one search runs at a time, and all are answered', async () => {
  const pool = await openPool()
  const asked = askThrice(pool)
  expect(pool.pids).toHaveLength(2)
  const isRoom = pool.shareMemory()
  expect(await Promise.all(asked)).toHaveLength(3)
  await isRoom
  expect(pool.pids).toHaveLength(1)
  const [pid] = pool.pids
  const more = await Promise.all(askThrice(pool))
  expect([more.map(({ total }) => total), pool.pids]).toEqual([[1, 1, 1], [pid]])
  const last = [pool.asking(), pool.asking()]
  expect(pool.pids).toHaveLength(1)
  pool.reclaimMemory()
  expect(pool.pids).toHaveLength(2)
  expect(await Promise.all(last)).toHaveLength(2)
})

test('memory that two jobs share is available again when both have ended', async () => {
  const pool = await openPool()
  await Promise.all([pool.shareMemory(), pool.shareMemory()])
  const asked = askThrice(pool)
  pool.reclaimMemory()
  expect(pool.pids).toHaveLength(1)
  pool.reclaimMemory()
  expect(pool.pids).toHaveLength(2)
  expect(await Promise.all(asked)).toHaveLength(3)
})

test('after the mirror was replaced, waiting searches ran one at a time', async () => {
  const pool = await openPool()
  pool.shut()
  const asked = askThrice(pool)
  expect(pool.pids).toEqual([])
  pool.reopen()
  expect(pool.pids).toHaveLength(2)
  expect(await Promise.all(asked)).toHaveLength(3)
})

test('a search during the replacement of the mirror was given to a killed process', async () => {
  const pool = await openPool()
  await pool.asking()
  pool.shut()
  pool.reopen()
  expect((await pool.asking()).total).toBe(1)
})

test('of two idle processes one has ended when another job may start', async () => {
  const pool = await openPool()
  await Promise.all([pool.asking(), pool.asking()])
  const { pids } = pool
  await pool.shareMemory()
  expect(pids).toHaveLength(2)
  expect(pool.pids).toHaveLength(1)
  const ended = pids.find((pid) => !pool.pids.includes(pid))
  expect(() => process.kill(ended ?? 0, 0)).toThrow('ESRCH')
})

test('the first answer after a minute without searches waited for a process to start', async () => {
  const pool = await openPool()
  const before: number[] = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await Promise.all([pool.asking(), pool.asking()])
    before.push(...pool.pids)
    vi.advanceTimersByTime(61_000)
  } finally {
    vi.useRealTimers()
  }
  const after = pool.pids
  expect([after.length, before.includes(after[0] ?? 0)]).toEqual([1, false])
  expect([(await pool.asking()).total, pool.pids]).toEqual([1, after])
})

test.runIf(canStop)(
  'a search past its deadline fails with the code "deadline", and its process is killed',
  async () => {
    const pool = await openPool(SHORT_MS)
    await pool.asking()
    const [pid] = pool.pids
    if (pid === undefined) throw new Error('no process searches')
    process.kill(pid, 'SIGSTOP')
    await expect(pool.asking()).rejects.toMatchObject({ name: 'UserError', code: 'deadline' })
    await waitUntil('the process to be gone', () => !pool.pids.includes(pid))
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect((await pool.asking()).total).toBe(1)
  },
)

test('an answer that arrived while the daemon was blocked was lost', async () => {
  const pool = await openPool(SHORT_MS)
  await pool.asking()
  const answer = pool.asking()
  const endMs = performance.now() + 2 * SHORT_MS
  while (performance.now() < endMs) continue
  expect((await answer).total).toBe(1)
})

test.runIf(canStop)('searches behind two that hang are answered when those are killed', async () => {
  const pool = await openPool(SHORT_MS)
  await Promise.all([pool.asking(), pool.asking()])
  for (const pid of pool.pids) process.kill(pid, 'SIGSTOP')
  const three = await Promise.allSettled(askThrice(pool))
  expect(three.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test.runIf(canStop)('if its process is killed, only that search fails, and the pool continues', async () => {
  const pool = await openPool()
  await pool.asking()
  for (const pid of pool.pids) process.kill(pid, 'SIGSTOP')
  const dying = pool.asking()
  for (const pid of pool.pids) process.kill(pid, 'SIGKILL')
  await expect(dying).rejects.toMatchObject({ code: 'search-died' })
  expect((await pool.asking()).total).toBe(1)
})

test('of two hundred searches at once half were refused', async () => {
  const pool = await openPool()
  const answers = await Promise.all(Array.from({ length: 200 }, () => pool.asking()))
  expect(answers.every(({ total }) => total === 1)).toBe(true)
})

test.runIf(canStop)('a search that waits longer than its deadline fails, even if it never started', async () => {
  const pool = await openPool(SHORT_MS)
  await Promise.all([pool.asking(), pool.asking()])
  for (const pid of pool.pids) process.kill(pid, 'SIGSTOP')
  const many = await Promise.allSettled(Array.from({ length: 60 }, () => pool.asking()))
  const codes = many.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : 'answered'))
  expect(new Set(codes)).toEqual(new Set(['deadline', 'answered']))
})

test('more than a thousand waiting searches are refused', async () => {
  const pool = await openPool()
  const waiting = Array.from({ length: 1002 }, () => pool.asking())
  await expect(pool.asking()).rejects.toMatchObject({ code: 'search-busy' })
  const answers = await Promise.all(waiting)
  expect(answers.every(({ total }) => total === 1)).toBe(true)
})

test('closing ends the processes and rejects waiting searches', async () => {
  const pool = await openPool()
  const settled = Promise.allSettled(askThrice(pool))
  const { pids } = pool
  await pool.close()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(pool.pids).toEqual([])
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})
