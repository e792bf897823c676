import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PassScheduler, SETTLE_MS, SETTLE_MS_MAX } from '../../src/daemon/follow/pass-scheduler.ts'
import { SourceMonitor } from '../../src/daemon/follow/source-monitor.ts'
import type { SourceEnd } from '../../src/engine/writer/messages.ts'
import type { PassDepth, PassOrder } from '../../src/model/pass.ts'
import { asSourceId, type SourceId } from '../../src/model/ids.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock, settle } from './fake-clock.ts'

describe('when a pass begins:', () => {
  const a = asSourceId('a')
  const b = asSourceId('b')

  function world() {
    const clock = new FakeClock()
    const changedAtMs = new Map([
      [a, 0],
      [b, 0],
    ])
    const runs: { readonly atMs: number; readonly orders: readonly PassOrder[]; end(): void; fail(): void }[] = []
    const more = { left: 0 }
    const pacer = new PassScheduler<number>({
      now: clock.now,
      later: clock.later,
      hasMore: () => more.left > 0,
      source: (id) => ({ id, changedAtMs: () => changedAtMs.get(id) ?? 0 }),
      run: (orders) =>
        new Promise((resolve, reject) => {
          const number = runs.length + 1
          const end = (): void => resolve(number)
          runs.push({ atMs: clock.now(), orders, end, fail: () => reject(new Error('in vain')) })
        }),
    })
    return { clock, runs, pacer, more, change: (id = a) => changedAtMs.set(id, clock.now()) }
  }

  test('a pass begins when its source was quiet for 50 ms', async () => {
    const { clock, runs, pacer, change } = world()
    const startMs = clock.now()
    change()
    pacer.nudge(a, 'tail')
    await clock.advance(30)
    change()
    pacer.nudge(a, 'tail')
    await clock.advance(49)
    expect(runs).toEqual([])
    await clock.advance(100)
    expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([30 + SETTLE_MS])
  })

  test('a source that is never quiet is read 500 ms after the first nudge', async () => {
    const { clock, runs, pacer, change } = world()
    const startMs = clock.now()
    for (let at = 0; at < 700 && runs.length === 0; at += 10) {
      change()
      pacer.nudge(a, 'tail')
      await clock.advance(10)
    }
    expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([SETTLE_MS_MAX])
  })

  test('if the clock was set back by an hour, a waiting pass began an hour later', async () => {
    const { clock, runs, pacer, change } = world()
    change()
    pacer.nudge(a, 'tail')
    clock.setBack(3_600_000)
    await clock.advance(SETTLE_MS)
    expect(runs).toEqual([])
    await clock.advance(SETTLE_MS_MAX)
    expect(runs).toHaveLength(1)
  })

  test('runs never overlap: requests during a run become one run after it, at the greatest requested depth', async () => {
    const { clock, runs, pacer } = world()
    pacer.nudge(a, 'tail')
    await clock.advance(1)
    expect(runs).toHaveLength(1)
    for (const depth of ['tail', 'values', 'keys'] as const) pacer.nudge(a, depth)
    pacer.nudge(b, 'tail')
    await clock.advance(10_000)
    expect(runs).toHaveLength(1)
    runs[0]?.end()
    // After a long run the writer rests.
    await clock.advance(1)
    await clock.advance(500)
    expect(runs).toHaveLength(1)
    await clock.advance(100)
    expect(runs.map(({ orders }) => orders)).toEqual([
      [{ id: a, depth: 'tail', isAsked: false }],
      [
        { id: a, depth: 'values', isAsked: false },
        { id: b, depth: 'tail', isAsked: false },
      ],
    ])
  })

  test('an urgent request does not wait for quiet, and gets the outcome of its run', async () => {
    const { clock, runs, pacer, change } = world()
    pacer.nudge(a, 'tail')
    await clock.advance(1)
    change()
    const asked = pacer.runNow([a, b].map((id) => ({ id, depth: 'values' as const, isAsked: true })))
    runs[0]?.end()
    await settle()
    expect(runs[1]?.orders).toEqual([
      { id: a, depth: 'values', isAsked: true },
      { id: b, depth: 'values', isAsked: true },
    ])
    runs[1]?.end()
    expect(await asked).toBe(2)
  })

  test('a failed run rejects its requests, and the next run starts', async () => {
    const { runs, pacer } = world()
    const asked = pacer.runNow([{ id: a, depth: 'tail' }])
    const next = pacer.runNow([{ id: b, depth: 'tail' }])
    runs[0]?.fail()
    await expect(asked).rejects.toThrow('in vain')
    await settle()
    runs[1]?.end()
    expect(await next).toBe(2)
  })

  test('a backlog is processed in runs without orders, and a new message is read between them', async () => {
    const { clock, runs, pacer, more, change } = world()
    more.left = 3
    pacer.wake()
    expect(runs.map(({ orders }) => orders)).toEqual([[]])
    change()
    pacer.nudge(a, 'tail')
    await clock.advance(SETTLE_MS)
    more.left = 2
    runs[0]?.end()
    await clock.advance(0)
    expect(runs[1]?.orders).toEqual([{ id: a, depth: 'tail', isAsked: false }])
    runs[1]?.end()
    await clock.advance(0)
    expect(runs[2]?.orders).toEqual([])
    more.left = 0
    runs[2]?.end()
    await clock.advance(1000)
    expect(runs.length).toBe(3)
  })
})

describe('which pass a source gets:', () => {
  let home: CursorHome
  let clock: FakeClock
  let nudges: [id: SourceId, depth: PassDepth][]
  let watched: Set<string>
  let follow: SourceMonitor
  beforeEach(() => {
    home = new CursorHome()
    clock = new FakeClock()
    nudges = []
    watched = new Set()
    mkdirSync(dirname(home.globalPath), { recursive: true })
    writeFileSync(home.globalPath, 'a')
    follow = new SourceMonitor(
      { userDirs: [home.userDir], homes: [], disabledKinds: ['global-items', 'agent-blobs', 'pasted-text'] },
      {
        now: clock.now,
        later: clock.later,
        nudge: (id, depth) => nudges.push([id, depth]),
        watch: (folders) => {
          for (const folder of folders) watched.add(folder)
        },
      },
    )
  })
  afterEach(() => home.remove())

  const takeNudges = (): PassDepth[] => nudges.splice(0).map(([, depth]) => depth)

  /** Runs a pass over every source. Each pass gets this end. */
  function runAll(
    end: Partial<SourceEnd> = {},
    depth: PassDepth = 'tail',
    meanwhile: () => void = () => undefined,
  ): void {
    const orders: PassOrder[] = follow.sources.map(({ id }) => ({ id, depth }))
    const finish = follow.begin(orders)
    meanwhile()
    const well = { state: 'ok', detail: null, again: [], pendingLoss: null } as const
    const ends = follow.sources.map(({ id, kind, path }) => ({ id, kind, path, ...well, ...end }))
    finish({ changed: 0, added: 0, gone: 0, backlog: 0, isWhole: true, ends })
  }

  /** Discovers and reads all sources, and forgets the requested passes. */
  function begin(): void {
    follow.discover()
    runAll()
    takeNudges()
  }

  const change = (): void => appendFileSync(home.globalPath, 'b')
  const newWorkspace = (): string => mkdirSync(join(home.userDir, 'workspaceStorage', 'ws1'), { recursive: true }) ?? ''

  test('a new source gets a pass, and is up to date when the pass has ended', () => {
    follow.discover()
    follow.poll(true)
    expect(takeNudges()).toEqual(['tail'])
    expect(follow.isUpToDate).toBe(false)
    runAll()
    expect(follow.isUpToDate).toBe(true)
    expect(follow.lagMs).toBe(0)
    expect([...watched]).toEqual([join(home.userDir, 'workspaceStorage'), dirname(home.globalPath)])
  })

  test('everything counts as read when each existing source had a pass, also if another source appears later', () => {
    follow.discover()
    const [first] = follow.sources
    newWorkspace()
    follow.discover()
    const [, second] = follow.sources
    const readOne = (source: typeof first): void => {
      if (source === undefined) throw new Error('two sources are to be found')
      const end = {
        id: source.id,
        kind: source.kind,
        path: source.path,
        state: 'busy',
        detail: null,
        again: [],
      } as const
      const outcome = { changed: 0, added: 0, gone: 0, backlog: 0, isWhole: true }
      follow.begin([{ id: source.id, depth: 'tail' }])({ ...outcome, ends: [{ ...end, pendingLoss: null }] })
    }
    readOne(first)
    expect(follow.wasAllRead).toBe(false)
    readOne(second)
    expect(follow.wasAllRead).toBe(true)
    mkdirSync(join(home.userDir, 'workspaceStorage', 'ws2'))
    follow.discover()
    readOne(first)
    expect([follow.sources.length, follow.wasAllRead]).toEqual([3, true])
  })

  test('a mass loss is compared again when it can be confirmed, once, and again while the store cannot be read', async () => {
    begin()
    const pendingLoss = { rows: 200, of: 400, confirmableAtMs: clock.now() + 45_000 }
    for (let turn = 0; turn < 3; turn += 1) runAll({ pendingLoss })
    await clock.advance(44_999)
    expect(takeNudges()).toEqual([])
    await clock.advance(1)
    expect(takeNudges()).toEqual(['keys'])
    runAll({ pendingLoss, state: 'missing' })
    await clock.advance(60_000)
    expect(takeNudges()).toEqual(['keys'])
    runAll()
    await clock.advance(600_000)
    expect(takeNudges()).toEqual([])
  })

  test('polling requests passes only for sources that changed', () => {
    begin()
    follow.poll(false)
    expect(takeNudges()).toEqual([])
    change()
    follow.poll(false)
    expect(takeNudges()).toEqual(['tail'])
    expect(follow.isUpToDate).toBe(false)
  })

  test('a change during a pass requests another pass at its end', () => {
    begin()
    runAll({}, 'tail', change)
    expect(takeNudges()).toEqual(['tail'])
  })

  test('after an event the source is checked three more times, because its commit may come later', async () => {
    begin()
    follow.onEvent(dirname(home.globalPath))
    expect(takeNudges()).toEqual([])
    expect(clock.delays).toEqual([20, 60, 250])
    await clock.advance(30)
    change()
    await clock.advance(30)
    expect(takeNudges()).toEqual(['tail'])
  })

  test('while two hundred workspaces were created, each event listed all of them, and the daemon did not answer for seconds', async () => {
    begin()
    newWorkspace()
    for (let times = 0; times < 200; times += 1) follow.onEvent(join(home.userDir, 'workspaceStorage'))
    expect(clock.delays).toEqual([100])
    await clock.advance(100)
    expect(follow.sources).toHaveLength(2)
    follow.onEvent(join(home.userDir, 'workspaceStorage'))
    expect(clock.delays).toEqual([100])
  })

  test('a commit whose event is suppressed, because another came just before, is found within 60 ms', async () => {
    begin()
    change()
    follow.onEvent(dirname(home.globalPath))
    runAll()
    expect(takeNudges()).toEqual(['tail'])
    change()
    await clock.advance(60)
    expect(takeNudges()).toContain('tail')
  })

  test('a busy store is tried again after 1, 2, 4 … 60 seconds, and polling skips it', async () => {
    begin()
    const delays: number[] = []
    for (let time = 0; time < 9; time += 1) {
      runAll({ state: 'busy' })
      delays.push(...clock.delays)
      change()
      follow.poll(true)
      expect(takeNudges()).toEqual([])
      await clock.advance(60_000)
      expect(takeNudges()).toEqual(['tail'])
    }
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    runAll()
    runAll({ state: 'busy' })
    expect(clock.delays).toEqual([1000])
  })

  test('a comparison that a cheap pass postponed is requested once, at the earliest time', async () => {
    begin()
    for (const inMs of [60_000, 15_000, 30_000]) runAll({ again: [{ depth: 'values', inMs }] })
    await clock.advance(14_999)
    expect(takeNudges()).toEqual([])
    await clock.advance(1)
    expect(takeNudges()).toEqual(['values'])
    await clock.advance(600_000)
    expect(takeNudges()).toEqual([])
  })

  test('an unreadable store gets a deeper pass when it changes, and every minute if access was denied', () => {
    begin()
    runAll({ state: 'corrupt' })
    follow.poll(true)
    expect(takeNudges()).toEqual([])
    change()
    follow.poll(false)
    expect(takeNudges()).toEqual(['keys'])
    runAll({ state: 'refused' })
    follow.poll(false)
    expect(takeNudges()).toEqual([])
    follow.poll(true)
    expect(takeNudges()).toEqual(['keys'])
  })

  test('when a missing large store appeared, the daemon counted as ready before it was read', () => {
    rmSync(home.globalPath)
    follow.discover()
    runAll({ state: 'missing' })
    expect(follow.isUpToDate).toBe(true)
    writeFileSync(home.globalPath, 'a')
    expect(follow.isUpToDate).toBe(false)
    runAll()
    expect(follow.isUpToDate).toBe(true)
  })

  test('a new workspace is found by the next poll, without an event, and polled every second', () => {
    begin()
    newWorkspace()
    follow.poll(false)
    expect(takeNudges()).toEqual(['tail'])
    expect(follow.sources.map(({ kind }) => kind)).toEqual(['composer-kv', 'workspace-items'])
    expect(watched).toContain(join(home.userDir, 'workspaceStorage', 'ws1'))
    runAll()
    writeFileSync(join(home.userDir, 'workspaceStorage', 'ws1', 'workspace.json'), '{}')
    follow.poll(false)
    expect(takeNudges()).toEqual(['tail'])
  })

  test('a workspace that has not changed for long is polled every minute', () => {
    newWorkspace()
    begin()
    writeFileSync(join(home.userDir, 'workspaceStorage', 'ws1', 'workspace.json'), '{}')
    follow.poll(false)
    expect(takeNudges()).toEqual([])
    follow.poll(true)
    expect(takeNudges()).toEqual(['tail'])
  })

  test('a source that a run did not find is forgotten, and discovered again when it returns', () => {
    newWorkspace()
    begin()
    rmSync(join(home.userDir, 'workspaceStorage', 'ws1'), { recursive: true })
    const [global, workspace] = follow.sources
    const orders: PassOrder[] = workspace === undefined ? [] : [{ id: workspace.id, depth: 'tail' }]
    follow.begin(orders)({ changed: 0, added: 0, gone: 0, backlog: 0, isWhole: true, ends: [] })
    expect(follow.sources).toEqual([global])
    expect(follow.isUpToDate).toBe(true)
    newWorkspace()
    follow.poll(false)
    expect(follow.sources).toHaveLength(2)
  })
})
