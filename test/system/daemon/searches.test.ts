import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { childrenOf } from '../../helpers/children-of.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace, type Cursordex } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const DEADLINE_MS = 10_000
const PLUM = '/api/search?q=plum'

const place = new Workplace()
/** The daemon's own copy of Node, with which it starts processes. */
const node = join(place.root, 'node')
const restore = (): void => copyFileSync(process.execPath, node)
let daemon: Cursordex
let url: string
beforeAll(async () => {
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  const config = join(place.root, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { deadlineMs: DEADLINE_MS }, tokens: { estimate: false } }))
  restore()
  ;({ daemon, url } = await place.serve(['--config', config], { node }))
  await untilReady(url)
})
afterAll(() => place.remove())

/** What a search answers: its number of hits, or the code of the refusal. */
async function ask(): Promise<unknown> {
  const response = await fetch(`${url}${PLUM}`)
  const answer = (await response.json()) as { readonly total: number; readonly code: string }
  return response.ok ? answer.total : `${response.status} ${answer.code}`
}

const askAll = (count: number): Promise<unknown[]> => Promise.all(Array.from({ length: count }, ask))

const searchers = (): number[] => childrenOf(daemon.pid, 'search')

/** Suspends all search processes. At least one runs. */
async function suspendAll(): Promise<number[]> {
  expect(await ask()).toBe(2)
  const pids = await waitUntil('a search process', () => (searchers().length > 0 ? searchers() : null))
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  return pids
}

test('at most two searches run at a time, and fifty at once are all answered', async () => {
  const asked = askAll(50)
  const progress = { isOver: false }
  void asked.finally(() => (progress.isOver = true))
  let most = 0
  while (!progress.isOver) {
    most = Math.max(most, searchers().length)
    await getStatus(url)
  }
  expect(new Set(await asked)).toEqual(new Set([2]))
  expect(most).toBe(2)
})

test('a search that hangs is a 503 at its deadline, its process is killed, and the next one is answered', async () => {
  expect(await askAll(2)).toEqual([2, 2])
  const pids = await suspendAll()
  const startedAt = performance.now()
  const codes = await askAll(3)
  expect(performance.now() - startedAt).toBeLessThan(10 * DEADLINE_MS)
  expect(codes).toContain('503 deadline')
  await waitUntil('the processes to be gone', () => searchers().every((pid) => !pids.includes(pid)))
  expect(await ask()).toBe(2)
})

test('if its process is killed, only that search fails, and the next one is answered', async () => {
  const pids = await suspendAll()
  const dying = ask()
  await getJson(url, '/api/health')
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  expect([2, '503 search-died']).toContain(await dying)
  expect(await ask()).toBe(2)
})

test('while Node is gone, each search says that its process cannot start, and then the next is answered', async () => {
  const pids = await suspendAll()
  rmSync(node)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  const sentence = 'The search process could not be started (ENOENT).'
  const answerOf = async (): Promise<string> => (await fetch(`${url}${PLUM}`)).text()
  // The daemon may not know yet that its processes have ended.
  await waitUntil('a refusal', async () => (await answerOf()).includes(sentence))
  const answers = await Promise.all([1, 2, 3, 4].map(answerOf))
  expect(answers.filter((answer) => !answer.includes(sentence))).toEqual([])
  expect((await getStatus(url)).state).toBe('ready')
  restore()
  expect(await ask()).toBe(2)
})
