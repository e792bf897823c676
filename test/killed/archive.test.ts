import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listRunNames, nameRun } from '../../src/api/archives/manifest-files.ts'
import type { ArchiveNews, ArchiveOrder } from '../../src/daemon/archive-orders.ts'
import { Chance } from '../fuzz/chance.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { seedMirror, type SeededMirror } from '../helpers/seed-mirror.ts'

const KILLS = 25
const CHATS = 400
const program = fileURLToPath(new URL('../../dist/daemon/archive-child.js', import.meta.url))

let folder: ArchiveFolder
let mirror: SeededMirror

beforeAll(async () => {
  folder = new ArchiveFolder()
  mirror = seedMirror()
  mirror.writer.transaction(() => {
    for (let at = 0; at < CHATS; at += 1) {
      const chat = mirror.addChat({ id: `chat-${at}` })
      mirror.addMessage(chat, { id: `m-${at}`, parts: [{ kind: 'text', text: `words ${at} `.repeat(500) }] })
    }
  })()
  await folder.run(mirror.reader)
})
afterAll(() => {
  folder.remove()
  mirror.dispose()
})

/** Begins a run as the daemon does. */
function begin(name: string): ChildProcess {
  const child = fork(program, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
  const prune = { job: 'job', keep: { daily: 1, weekly: 0, monthly: 0 }, timeZone: 'UTC' }
  const order: ArchiveOrder = {
    kind: 'run',
    dir: folder.dir,
    mirrorPath: mirror.path,
    name,
    scope: null,
    timeZone: 'UTC',
    version: '0',
    prune,
  }
  child.send(order)
  return child
}

/** @returns how many signs of life it gave before it was killed */
async function killAfter(child: ChildProcess, signs: number, extraMs: number): Promise<number> {
  let seen = 0
  const ended = once(child, 'exit')
  await new Promise<void>((resolve) => {
    child.on('message', (news: ArchiveNews) => {
      seen += 1
      if (seen > signs || news.kind !== 'progress') resolve()
    })
    child.on('exit', () => resolve())
  })
  await sleep(extraMs)
  child.kill('SIGKILL')
  await ended
  return seen
}

test('killed at any moment, a run is there whole or not at all, and the runs before stay whole', async () => {
  const chance = new Chance(9)
  let [made, unmade, leftovers] = [0, 0, 0]
  for (let round = 0; round < KILLS; round += 1) {
    mirror.writer.exec(`update chats set title = 'Round ${round} ' || num, revision = revision + ${CHATS}`)
    const before = listRunNames(folder.dir)
    const name = nameRun(folder.dir, Date.UTC(2026, 0, 1, 0, round), 'job')
    await killAfter(begin(name), chance.below(6), chance.below(40))
    const verdict = folder.verify()
    expect([round, verdict.ok, verdict.damaged, verdict.unexpected]).toEqual([round, true, [], []])
    leftovers += verdict.leftovers.length
    const isMade = verdict.soundRuns.includes(name)
    if (isMade) made += 1
    else unmade += 1
    expect(isMade ? before : listRunNames(folder.dir)).toEqual(before)
  }
  console.log(`archives: ${KILLS} kills, ${made} runs made, ${unmade} not, ${leftovers} files left over`)
  // A kill that always came too early or too late would show nothing.
  expect(unmade).toBeGreaterThan(0)
  expect(leftovers).toBeGreaterThan(0)
  const last = begin(nameRun(folder.dir, Date.UTC(2026, 0, 2), 'job'))
  const [code] = (await once(last, 'exit')) as [number]
  expect(code).toBe(0)
  const verdict = folder.verify()
  expect(verdict).toMatchObject({ ok: true, leftovers: [] })
  // One of the job's, and the one that a person asked for.
  expect(verdict.soundRuns.filter((name) => !name.endsWith('-manual'))).toHaveLength(1)
}, 300_000)

test('two programs at work on one folder: one waits for the other', async () => {
  const [one, other] = [1, 2].map((minute) => begin(nameRun(folder.dir, Date.UTC(2026, 0, 3, 0, minute), 'job')))
  if (one === undefined || other === undefined) throw new Error('two were begun')
  await Promise.all([once(one, 'exit'), once(other, 'exit')])
  expect(folder.verify()).toMatchObject({ ok: true, leftovers: [] })
}, 60_000)
