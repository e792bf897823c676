import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Follow } from '../../src/daemon/follow/follow.ts'
import type { RunOutcome, SourceEnd } from '../../src/engine/writer/writer.ts'
import type { PassDepth, PassOrder } from '../../src/model/pass.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock, settle } from './fake-clock.ts'

interface Run {
  readonly atMs: number
  readonly orders: readonly PassOrder[]
  end(): void
  fail(): void
}

let home: CursorHome
let clock: FakeClock
let follow: Follow
/** What began, and was not taken by the test. */
let runs: Run[]
/** How the passes of the next runs end. Null if the test ends each run itself. */
let end: Partial<SourceEnd> | null
let hasMore: boolean
/** What is called when something happens in a folder. */
let watched: Map<string, (kind: string, name: string | null) => void>

beforeEach(() => {
  home = new CursorHome()
  clock = new FakeClock()
  ;[runs, end, hasMore, watched] = [[], {}, false, new Map()]
  mkdirSync(dirname(home.globalPath), { recursive: true })
  writeFileSync(home.globalPath, 'a')
  changedNow(home.globalPath)
  follow = new Follow(
    { userDirs: [home.userDir], homes: [], disabledKinds: ['global-items', 'agent-blobs', 'pasted-text'] },
    {
      now: clock.now,
      later: clock.later,
      hasMore: () => hasMore,
      run,
      watch: (folder, onEvent) => {
        watched.set(folder, onEvent)
        return () => void watched.delete(folder)
      },
      warn: (sentence) => expect.fail(sentence),
    },
  )
})
afterEach(() => home.remove())

async function run(orders: readonly PassOrder[]): Promise<RunOutcome> {
  const well = { kind: '', path: '', state: 'ok', detail: null, again: [], pendingLoss: null } as const
  const outcome = (): RunOutcome => {
    const ends = orders.flatMap(({ id }) =>
      end?.state === 'missing' && end.path === '' ? [] : { id, ...well, ...end },
    )
    return { changed: 0, added: runs.length, gone: 0, backlog: 0, ends }
  }
  const isHeld = end === null
  return new Promise((resolve, reject) => {
    runs.push({
      atMs: clock.now(),
      orders,
      end: () => resolve(outcome()),
      fail: () => reject(new Error('in vain')),
    })
    if (!isHeld) resolve(outcome())
  })
}

/** The clock of the test is not that of the file system. */
const changedNow = (path: string): void => utimesSync(path, clock.now() / 1000, clock.now() / 1000)

function change(path = home.globalPath): void {
  appendFileSync(path, 'b')
  changedNow(path)
}

/** A change, and its event. */
function write(): void {
  change()
  tell(home.globalPath)
}

const tell = (path: string, kind = 'change'): void =>
  watched.get(dirname(path))?.(kind, path.slice(dirname(path).length + 1))

/** The depths of the passes since the last call. */
const takePasses = (): PassDepth[] => runs.splice(0).flatMap(({ orders }) => orders.map(({ depth }) => depth))

/** Follows, and has read everything. */
async function begin(): Promise<void> {
  follow.start()
  await clock.advance(100)
  takePasses()
}

const storeOf = (id: string): string => join(home.userDir, 'workspaceStorage', id, 'state.vscdb')

function makeWorkspace(id = 'ws1'): string {
  mkdirSync(dirname(storeOf(id)), { recursive: true })
  writeFileSync(storeOf(id), 'a')
  changedNow(storeOf(id))
  return storeOf(id)
}

describe('when a pass begins:', () => {
  test('a pass begins when its source was quiet for 50 ms', async () => {
    await begin()
    const startMs = clock.now()
    write()
    await clock.advance(30)
    write()
    await clock.advance(49)
    expect(runs).toEqual([])
    await clock.advance(100)
    expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([30 + 50])
  })

  test('a source that is never quiet is read 500 ms after the first change', async () => {
    await begin()
    const startMs = clock.now()
    for (let at = 0; at < 700 && runs.length === 0; at += 10) {
      write()
      await clock.advance(10)
    }
    expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([500])
  })

  test('if the clock was set back by an hour, a waiting pass began an hour later', async () => {
    await begin()
    write()
    clock.setBack(3_600_000)
    await clock.advance(50)
    expect(runs).toEqual([])
    await clock.advance(600)
    expect(runs).toHaveLength(1)
  })

  test('runs never overlap: requests during a run become one run after it, at the greatest requested depth', async () => {
    makeWorkspace()
    end = null
    follow.start()
    await clock.advance(100)
    const [a, b] = runs[0]?.orders.map(({ id }) => id) ?? []
    if (a === undefined || b === undefined) throw new Error('two sources are to be found')
    for (const depth of ['tail', 'values', 'keys'] as const) follow.nudge(a, depth)
    follow.nudge(b, 'tail')
    await clock.advance(10_000)
    expect(runs).toHaveLength(1)
    runs[0]?.end()
    await settle()
    // After a long run the writer rests.
    await clock.advance(500)
    expect(runs).toHaveLength(1)
    await clock.advance(200)
    expect(runs[1]?.orders).toEqual([
      { id: a, depth: 'values', isAsked: false },
      { id: b, depth: 'tail', isAsked: false },
    ])
    expect(runs).toHaveLength(2)
  })

  test('what a person asks for does not wait for quiet, and gets the outcome of its run', async () => {
    await begin()
    end = null
    write()
    await clock.advance(60)
    write()
    const asked = follow.readAll({ depth: 'values', isAsked: true })
    runs[0]?.end()
    await settle()
    expect(runs[1]?.orders).toMatchObject([{ depth: 'values', isAsked: true }])
    runs[1]?.end()
    expect(await asked).toMatchObject({ added: 2 })
  })

  test('a failed run rejects its requests, and the next run starts', async () => {
    await begin()
    end = null
    const asked = follow.readAll({ depth: 'tail' })
    await settle()
    const next = follow.readAll({ depth: 'tail' })
    runs[0]?.fail()
    await expect(asked).rejects.toThrow('in vain')
    await settle()
    runs[1]?.end()
    expect(await next).toMatchObject({ added: 2 })
  })

  test('a backlog is processed in runs without orders, and a new message is read between them', async () => {
    await begin()
    ;[end, hasMore] = [null, true]
    follow.wake()
    await settle()
    expect(runs.map(({ orders }) => orders)).toEqual([[]])
    write()
    await clock.advance(50)
    runs[0]?.end()
    await settle()
    expect(runs[1]?.orders).toMatchObject([{ depth: 'tail', isAsked: false }])
    runs[1]?.end()
    await settle()
    expect(runs[2]?.orders).toEqual([])
    hasMore = false
    runs[2]?.end()
    await settle()
    expect(runs).toHaveLength(3)
  })
})

describe('which pass a source gets:', () => {
  test('a new source gets a pass, and is up to date when the pass has ended', async () => {
    follow.start()
    expect(follow.isUpToDate).toBe(false)
    await clock.advance(60_100)
    expect(takePasses()).toEqual(['tail'])
    expect(follow.isUpToDate).toBe(true)
    expect(follow.lagMs).toBe(0)
    expect([...watched.keys()]).toEqual([dirname(home.globalPath)])
  })

  test('everything counts as read when each existing source had a pass, also if another source appears later', async () => {
    makeWorkspace()
    end = null
    follow.start()
    await clock.advance(100)
    expect(follow.wasAllRead).toBe(false)
    end = { state: 'busy' }
    runs[0]?.end()
    await settle()
    expect(follow.wasAllRead).toBe(true)
    makeWorkspace('ws2')
    await clock.advance(1000)
    expect(follow.wasAllRead).toBe(true)
  })

  test('a mass loss is compared again when it can be confirmed, once, and again while the store cannot be read', async () => {
    await begin()
    const pendingLoss = { rows: 200, of: 400, confirmableAtMs: clock.now() + 45_000 }
    end = { pendingLoss }
    for (let turn = 0; turn < 3; turn += 1) await follow.readAll({ depth: 'tail' })
    takePasses()
    end = { pendingLoss, state: 'missing', path: home.globalPath }
    await clock.advance(44_999)
    expect(takePasses()).toEqual([])
    await clock.advance(1)
    expect(takePasses()).toEqual(['keys'])
    end = {}
    await clock.advance(60_000)
    expect(takePasses()).toEqual(['keys'])
    await clock.advance(600_000)
    expect(takePasses()).toEqual([])
  })

  test('polling requests passes only for sources that changed', async () => {
    await begin()
    await clock.advance(1000)
    expect(takePasses()).toEqual([])
    change()
    expect(follow.isUpToDate).toBe(false)
    await clock.advance(1100)
    expect(takePasses()).toEqual(['tail'])
    expect(follow.isUpToDate).toBe(true)
  })

  test('a change during a pass requests another pass at its end', async () => {
    await begin()
    end = null
    write()
    await clock.advance(50)
    change()
    runs[0]?.end()
    await settle()
    await clock.advance(50)
    expect(takePasses()).toEqual(['tail', 'tail'])
  })

  test('after an event the source is looked at for a while, because its commit may come later', async () => {
    await begin()
    tell(home.globalPath)
    await clock.advance(200)
    expect(takePasses()).toEqual([])
    change()
    await clock.advance(90)
    expect(takePasses()).toEqual(['tail'])
  })

  test('an event of a file that is no store’s is ignored, and one without a name is not', async () => {
    await begin()
    change()
    tell(join(dirname(home.globalPath), 'storage.json'))
    await clock.advance(100)
    expect(takePasses()).toEqual([])
    watched.get(dirname(home.globalPath))?.('change', null)
    await clock.advance(100)
    expect(takePasses()).toEqual(['tail'])
  })

  test('while two hundred workspaces were created, each event listed all of them, and the daemon did not answer for seconds', async () => {
    makeWorkspace()
    await begin()
    makeWorkspace('ws2')
    const before = clock.delays.length
    for (let times = 0; times < 200; times += 1) tell(dirname(storeOf('ws2')), 'rename')
    expect(clock.delays).toHaveLength(before + 1)
    await clock.advance(200)
    expect(takePasses()).toEqual(['tail'])
    expect([...watched.keys()]).toContain(dirname(storeOf('ws2')))
  })

  test('a busy store is tried again after 1, 2, 4 … 60 seconds, and polling skips it', async () => {
    await begin()
    end = { state: 'busy' }
    write()
    await clock.advance(300_000)
    const times = runs.splice(0).map(({ atMs }) => atMs)
    const delays = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    end = {}
    await clock.advance(60_000)
    expect(takePasses()).toEqual(['tail'])
    end = { state: 'busy' }
    write()
    await clock.advance(1060)
    expect(takePasses()).toEqual(['tail', 'tail'])
  })

  test('a comparison that a cheap pass postponed is requested once, at the earliest time', async () => {
    await begin()
    for (const inMs of [60_000, 15_000, 30_000]) {
      end = { again: [{ depth: 'values', inMs }] }
      await follow.readAll({ depth: 'tail' })
    }
    end = {}
    takePasses()
    await clock.advance(14_999)
    expect(takePasses()).toEqual([])
    await clock.advance(1)
    expect(takePasses()).toEqual(['values'])
    await clock.advance(600_000)
    expect(takePasses()).toEqual([])
  })

  test('an unreadable store gets a deeper pass when it changes, and every minute if access was denied', async () => {
    await begin()
    end = { state: 'corrupt' }
    await follow.readAll({ depth: 'tail' })
    takePasses()
    await clock.advance(120_000)
    expect(takePasses()).toEqual([])
    end = { state: 'refused' }
    change()
    await clock.advance(1100)
    expect(takePasses()).toEqual(['keys'])
    await clock.advance(120_000)
    expect(takePasses()).toEqual(['keys', 'keys'])
  })

  test('when a missing large store appeared, the daemon counted as ready before it was read', async () => {
    rmSync(home.globalPath)
    end = { state: 'missing', path: home.globalPath }
    await begin()
    expect(follow.isUpToDate).toBe(true)
    writeFileSync(home.globalPath, 'a')
    expect(follow.isUpToDate).toBe(false)
    end = {}
    await clock.advance(2000)
    expect(follow.isUpToDate).toBe(true)
  })

  test('a new workspace is found by the next poll, without an event, and polled every second', async () => {
    await begin()
    const path = makeWorkspace()
    await clock.advance(1000)
    expect(takePasses()).toEqual(['tail'])
    expect([...watched.keys()]).toContain(dirname(path))
    change(path)
    await clock.advance(1100)
    expect(takePasses()).toEqual(['tail'])
  })

  test('a workspace that has not changed for long is polled every minute', async () => {
    const path = makeWorkspace()
    await clock.advance(3_600_000)
    await begin()
    appendFileSync(path, 'b')
    await clock.advance(58_000)
    expect(takePasses()).toEqual([])
    await clock.advance(3000)
    expect(takePasses()).toEqual(['tail'])
  })

  test('a source that a run did not find is forgotten, and discovered again when it returns', async () => {
    const path = makeWorkspace()
    await begin()
    rmSync(dirname(path), { recursive: true })
    end = { state: 'missing', path: '' }
    await clock.advance(2000)
    takePasses()
    expect(follow.ends).toHaveLength(1)
    end = {}
    makeWorkspace()
    await clock.advance(1000)
    expect(takePasses()).toEqual(['tail'])
    expect(follow.ends).toHaveLength(2)
  })
})

describe('of many folders without a store', () => {
  const MANY = 1500
  beforeEach(() => {
    for (let index = 0; index < MANY; index += 1) mkdirSync(dirname(storeOf(`quiet${index}`)), { recursive: true })
  })

  test('none is a source or watched, and one that gets a store is found within seconds', async () => {
    follow.start()
    await clock.advance(100)
    expect(runs.map(({ orders }) => orders.length)).toEqual([1])
    expect([...watched.keys()]).toEqual([join(home.userDir, 'workspaceStorage'), dirname(home.globalPath)])
    takePasses()
    const path = makeWorkspace(`quiet${MANY - 1}`)
    await clock.advance(3000)
    expect(takePasses()).toEqual(['tail'])
    expect([...watched.keys()]).toContain(dirname(path))
  })
})
