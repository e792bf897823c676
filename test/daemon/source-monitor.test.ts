import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SourceMonitor } from '../../src/daemon/follow/source-monitor.ts'
import type { SourceEnd } from '../../src/engine/writer/messages.ts'
import type { Order } from '../../src/daemon/follow/pass-scheduler.ts'
import { countLater, type PassDepth } from '../../src/indexer/source.ts'
import type { SourceId } from '../../src/model/ids.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock } from './fake-clock.ts'

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
  depth: PassDepth = 'nudge',
  meanwhile: () => void = () => undefined,
): void {
  const orders: Order[] = follow.sources.map(({ id }) => ({ id, depth }))
  const finish = follow.begin(orders)
  meanwhile()
  const well = { state: 'ok', detail: null, again: [], pendingLoss: null } as const
  const ends = follow.sources.map(({ id, kind, path }) => ({ id, kind, path, ...well, ...end }))
  finish({ changed: 0, added: 0, gone: 0, backlog: 0, needsMerge: false, isWhole: true, ends })
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
  expect(takeNudges()).toEqual(['nudge'])
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
    const end = { id: source.id, kind: source.kind, path: source.path, state: 'busy', detail: null, again: [] } as const
    const outcome = { changed: 0, added: 0, gone: 0, backlog: 0, needsMerge: false, isWhole: true }
    follow.begin([{ id: source.id, depth: 'nudge' }])({ ...outcome, ends: [{ ...end, pendingLoss: null }] })
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

test('a rebuilt mirror counted as ready before everything was read into it', () => {
  begin()
  expect([follow.isUpToDate, follow.wasAllRead]).toEqual([true, true])
  follow.readAgain()
  expect([follow.isUpToDate, follow.wasAllRead, takeNudges()]).toEqual([false, false, ['reconcile']])
  runAll({}, 'reconcile')
  expect([follow.isUpToDate, follow.wasAllRead]).toEqual([true, true])
})

test('a mass loss is compared again when it can be confirmed, once, and again while the store cannot be read', async () => {
  begin()
  const pendingLoss = { rows: 200, of: 400, confirmableAtMs: clock.now() + 45_000 }
  for (let turn = 0; turn < 3; turn += 1) runAll({ pendingLoss })
  await clock.advance(44_999)
  expect(takeNudges()).toEqual([])
  await clock.advance(1)
  expect(takeNudges()).toEqual(['reconcile'])
  runAll({ pendingLoss, state: 'missing' })
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['reconcile'])
  runAll()
  await clock.advance(600_000)
  expect(takeNudges()).toEqual([])
})

test('a count that several cheap passes postponed ran once for each of them', async () => {
  begin()
  for (let turn = 0; turn < 20; turn += 1) runAll({ again: [countLater] })
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['count'])
  runAll({ again: [countLater] })
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['count'])
})

test('polling requests passes only for sources that changed', () => {
  begin()
  follow.poll(false)
  expect(takeNudges()).toEqual([])
  change()
  follow.poll(false)
  expect(takeNudges()).toEqual(['nudge'])
  expect(follow.isUpToDate).toBe(false)
})

test('a change during a pass requests another pass at its end', () => {
  begin()
  runAll({}, 'nudge', change)
  expect(takeNudges()).toEqual(['nudge'])
})

test('after an event the source is checked three more times, because its commit may come later', async () => {
  begin()
  follow.onEvent(dirname(home.globalPath))
  expect(takeNudges()).toEqual([])
  expect(clock.delays).toEqual([20, 60, 250])
  await clock.advance(30)
  change()
  await clock.advance(30)
  expect(takeNudges()).toEqual(['nudge'])
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
  expect(takeNudges()).toEqual(['nudge'])
  change()
  await clock.advance(60)
  expect(takeNudges()).toContain('nudge')
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
    expect(takeNudges()).toEqual(['nudge'])
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
  runAll()
  runAll({ state: 'busy' })
  expect(clock.delays).toEqual([1000])
})

test('after a full comparison met a busy store, only a cheap pass was retried', async () => {
  begin()
  runAll({ state: 'busy' }, 'full')
  runAll({ state: 'busy' }, 'recent')
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['reconcile'])
  runAll({ state: 'busy' }, 'recent')
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['recent'])
  runAll({}, 'recent')
  runAll({ state: 'busy' })
  await clock.advance(60_000)
  expect(takeNudges()).toEqual(['nudge'])
})

test('a count that a cheap pass postponed is requested a minute later', async () => {
  begin()
  runAll({ again: [countLater] })
  await clock.advance(59_999)
  expect(takeNudges()).toEqual([])
  await clock.advance(1)
  expect(takeNudges()).toEqual(['count'])
})

test('all keys are compared only for sources that changed since the last comparison', () => {
  begin()
  follow.reconcileChanged()
  expect(takeNudges()).toEqual(['reconcile'])
  runAll({}, 'reconcile')
  follow.reconcileChanged()
  expect(takeNudges()).toEqual([])
  change()
  follow.reconcileChanged()
  expect(takeNudges()).toEqual(['reconcile'])
})

test('an unreadable store gets a deeper pass when it changes, and every minute if access was denied', () => {
  begin()
  runAll({ state: 'corrupt' })
  follow.poll(true)
  expect(takeNudges()).toEqual([])
  change()
  follow.poll(false)
  expect(takeNudges()).toEqual(['count'])
  runAll({ state: 'refused' })
  follow.poll(false)
  expect(takeNudges()).toEqual([])
  follow.poll(true)
  expect(takeNudges()).toEqual(['count'])
})

test('a source that cannot be read does not count as waiting', () => {
  begin()
  runAll({ state: 'corrupt' })
  change()
  expect(follow.isUpToDate).toBe(true)
  expect(follow.lagMs).toBe(0)
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
  expect(takeNudges()).toEqual(['nudge'])
  expect(follow.sources.map(({ kind }) => kind)).toEqual(['composer-kv', 'workspace-items'])
  expect(watched).toContain(join(home.userDir, 'workspaceStorage', 'ws1'))
  runAll()
  writeFileSync(join(home.userDir, 'workspaceStorage', 'ws1', 'workspace.json'), '{}')
  follow.poll(false)
  expect(takeNudges()).toEqual(['nudge'])
})

test('a workspace that has not changed for long is polled every minute', () => {
  newWorkspace()
  begin()
  writeFileSync(join(home.userDir, 'workspaceStorage', 'ws1', 'workspace.json'), '{}')
  follow.poll(false)
  expect(takeNudges()).toEqual([])
  follow.poll(true)
  expect(takeNudges()).toEqual(['nudge'])
})

test('a source that a run did not find is forgotten, and discovered again when it returns', () => {
  newWorkspace()
  begin()
  rmSync(join(home.userDir, 'workspaceStorage', 'ws1'), { recursive: true })
  const [global, workspace] = follow.sources
  const orders: Order[] = workspace === undefined ? [] : [{ id: workspace.id, depth: 'nudge' }]
  follow.begin(orders)({ changed: 0, added: 0, gone: 0, backlog: 0, needsMerge: false, isWhole: true, ends: [] })
  expect(follow.sources).toEqual([global])
  expect(follow.isUpToDate).toBe(true)
  newWorkspace()
  follow.poll(false)
  expect(follow.sources).toHaveLength(2)
})
