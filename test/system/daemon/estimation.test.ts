import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Estimation } from '../../../src/daemon/estimation/estimation.ts'
import type { EstimateSlice } from '../../../src/engine/jobs/estimate.ts'
import type { Estimate } from '../../../src/mirror/usage/estimates.ts'
import { headers } from '../../helpers/cursor.ts'
import { childrenOf } from '../../helpers/children-of.ts'
import { countText } from '../../helpers/estimate-all.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { FakeClock, settle } from '../../daemon/fake-clock.ts'
import type { TokensAnswer } from '../../../src/api/http/schemas/tokens.ts'

const estimate = (key: number): Estimate => ({
  key,
  role: 'assistant',
  body: key,
  contentHash: '',
  octets: 1,
  input: 1,
  output: 1,
})

/** The daemon around the estimation. It is at rest until a test says otherwise. */
class World {
  readonly clock = new FakeClock()
  readonly saved: number[] = []
  isResting = true
  isSearching = false
  isRunning = false
  /** Runs while counts are saved. */
  whenSaving: () => void = () => undefined
  starts = 0
  ends = 0
  /** The answers of the process, slice by slice. Without more slices, everything is counted. */
  slices: (EstimateSlice | Error)[] = []
  /** After this many slices the process stays in one until it is ended. */
  isLongAfter = Infinity
  /** Runs during each slice of the process. */
  whenCounting: () => void = () => undefined
  readonly warnings: string[] = []
  readonly estimation: Estimation
  #asked = 0
  #die: (error: Error) => void = () => undefined

  constructor(isEnabled = true) {
    this.estimation = new Estimation(isEnabled, {
      log: { warn: (...said: unknown[]) => void this.warnings.push(said.join(' ')), debug: () => undefined },
      now: this.clock.now,
      later: this.clock.later,
      save: async (estimates) => {
        this.whenSaving()
        this.whenSaving = () => undefined
        this.saved.push(...estimates.map(({ key }) => key))
        return estimates.length
      },
      isResting: () => this.isResting,
      isSearching: () => this.isSearching,
      onDamage: () => undefined,
      executor: {
        // Only estimates are requested.
        run: () => this.#count(),
        end: async () => {
          if (!this.isRunning) return
          this.isRunning = false
          this.ends += 1
          const die = this.#die
          // The system reports the end a moment later.
          this.clock.later(() => die(new Error('it was ended')), 1)
        },
      },
    })
    this.estimation.begin()
  }

  async #count(): Promise<EstimateSlice> {
    if (!this.isRunning) this.starts += 1
    this.isRunning = true
    if (this.#asked++ >= this.isLongAfter) return new Promise<EstimateSlice>((_, reject) => (this.#die = reject))
    const slice = this.slices.shift() ?? { estimates: [], left: 0, isDone: true }
    if (slice instanceof Error) throw slice
    this.whenCounting()
    return slice
  }
}

const slice = (...keys: number[]): EstimateSlice => ({
  estimates: keys.map(estimate),
  left: 1,
  isDone: false,
})

test('it is at work until its process has ended', async () => {
  const world = new World()
  world.slices = [slice(1)]
  world.isLongAfter = 1
  expect(world.estimation.isAtWork).toBe(false)
  await world.clock.advance(15_000)
  expect([world.estimation.isAtWork, world.isRunning]).toEqual([true, true])
  await world.estimation.stop()
  await world.clock.advance(1000)
  expect([world.estimation.isAtWork, world.isRunning]).toEqual([false, false])
})

test('counting starts after the daemon was idle for a while, and the process ends when all is counted', async () => {
  const world = new World()
  world.isResting = false
  await world.clock.advance(60_000)
  expect(world.starts).toBe(0)
  world.isResting = true
  world.slices = [slice(1, 2), slice(3)]
  await world.clock.advance(15_000)
  expect([world.starts, world.ends]).toEqual([1, 1])
  expect(world.saved).toEqual([1, 2, 3])
  expect(world.estimation.state).toEqual({ state: 'done', left: 0 })
})

test('while Cursor wrote without a pause, nothing was counted, however little it wrote', async () => {
  const world = new World()
  world.slices = [slice(1)]
  for (let second = 0; second < 15; second += 1) {
    world.isResting = second % 3 !== 0
    await world.clock.advance(1000)
  }
  expect([world.starts, world.saved]).toEqual([1, [1]])
})

test('a few new messages wait for more of them, or for ten minutes', async () => {
  const world = new World()
  await world.clock.advance(15_000)
  world.estimation.noteMessages(3)
  await world.clock.advance(60_000)
  expect([world.starts, world.estimation.state]).toEqual([1, { state: 'waiting', left: 3 }])
  await world.clock.advance(600_000)
  expect(world.starts).toBe(2)
  world.estimation.noteMessages(500)
  await world.clock.advance(2000)
  expect(world.starts).toBe(3)
})

test('it pauses while sources are read, and for at most a second while searches run', async () => {
  const world = new World()
  world.slices = Array.from({ length: 3 }, (_, index) => slice(index))
  world.isSearching = true
  await world.clock.advance(11_000)
  expect(world.estimation.state.state).toBe('paused')
  await world.clock.advance(5000)
  expect(world.saved).toEqual([0, 1, 2])
  world.slices = [slice(7)]
  world.isSearching = false
  world.estimation.noteMessages(500)
  world.isResting = false
  await world.clock.advance(60_000)
  expect(world.saved).not.toContain(7)
  world.isResting = true
  await world.clock.advance(2000)
  expect(world.saved).toContain(7)
})

test('a large catch-up during counting took the memory of both', async () => {
  const world = new World()
  world.slices = Array.from({ length: 200 }, (_, index) => slice(index))
  world.isSearching = true
  await world.clock.advance(13_000)
  expect([world.starts, world.ends]).toEqual([1, 0])
  world.isResting = false
  await world.clock.advance(4000)
  expect([world.starts, world.ends, world.isRunning]).toEqual([1, 1, false])
  expect(world.estimation.state).toEqual({ state: 'waiting', left: 1 })
  expect(world.saved.length).toBeGreaterThan(0)
  await world.clock.advance(600_000)
  expect(world.starts).toBe(1)
  world.isResting = true
  world.isSearching = false
  await world.clock.advance(15_000)
  expect([world.starts, world.estimation.state.state]).toEqual([2, 'done'])
})

test('a process in a long slice kept its memory during a whole catch-up, and its counts were lost', async () => {
  const world = new World()
  world.slices = [slice(1, 2)]
  world.isLongAfter = 1
  await world.clock.advance(15_000)
  expect([world.starts, world.ends]).toEqual([1, 0])
  world.isResting = false
  await world.clock.advance(5000)
  expect([world.starts, world.ends, world.isRunning]).toEqual([1, 1, false])
  expect([world.saved, world.warnings]).toEqual([[1, 2], []])
  world.isLongAfter = Infinity
  world.isResting = true
  await world.clock.advance(9000)
  expect(world.starts).toBe(1)
  await world.clock.advance(3000)
  expect([world.starts, world.estimation.state.state]).toEqual([2, 'done'])
})

test('messages that arrived while the last counts were saved were never counted', async () => {
  const world = new World()
  world.slices = [{ ...slice(1), left: 0, isDone: true }]
  world.whenSaving = () => world.estimation.noteMessages(500)
  await world.clock.advance(15_000)
  expect([world.starts, world.saved]).toEqual([2, [1]])
  expect(world.estimation.state).toEqual({ state: 'done', left: 0 })
})

test('messages that arrived after the last walk of the process were never counted', async () => {
  const world = new World()
  world.slices = [slice(1), { ...slice(), left: 0 }]
  let slices = 0
  world.whenCounting = () => {
    slices += 1
    // The last walk over waiting messages may span three slices.
    if (slices === 1 || slices === 2) world.estimation.noteMessages(200)
  }
  await world.clock.advance(10_000)
  expect(world.starts).toBe(1)
  await world.clock.advance(3000)
  expect([world.starts, world.estimation.state]).toEqual([2, { state: 'done', left: 0 }])
})

test('the daemon waited for messages that were counted already', async () => {
  const world = new World()
  world.slices = [slice(1), slice(2)]
  world.whenCounting = () => {
    if (world.slices.length === 1) world.estimation.noteMessages(300)
  }
  await world.clock.advance(15_000)
  expect([world.starts, world.estimation.state]).toEqual([1, { state: 'done', left: 0 }])
})

test('after the clock was set back, nothing was counted until the old time came again', async () => {
  const world = new World()
  await world.clock.advance(5000)
  world.clock.setBack(3_600_000)
  await world.clock.advance(20_000)
  expect(world.starts).toBe(1)
  world.estimation.noteMessages(3)
  world.clock.setBack(3_600_000)
  await world.clock.advance(601_000)
  expect(world.starts).toBe(2)
  world.slices = [new Error('it died')]
  world.estimation.noteMessages(500)
  await world.clock.advance(2000)
  world.clock.setBack(3_600_000)
  await world.clock.advance(80_000)
  expect([world.starts, world.estimation.state.state]).toEqual([4, 'done'])
})

test('a process that always fails is not started for ever', async () => {
  const world = new World()
  world.slices = Array.from({ length: 50 }, () => new Error('it died'))
  await world.clock.advance(3_600_000)
  expect(world.starts).toBe(5)
})

test('when counting had failed for good, the status said that it waits', async () => {
  const world = new World()
  world.slices = Array.from({ length: 5 }, () => new Error('it died'))
  await world.clock.advance(200_000)
  expect(world.estimation.state.state).toBe('waiting')
  await world.clock.advance(200_000)
  expect(world.estimation.state).toEqual({ state: 'failed', left: null })
})

test('after the disk was full for five minutes, nothing was counted until the next start', async () => {
  const world = new World()
  world.whenSaving = () => {
    world.slices = [slice(1)]
    throw new Error('the disk is full')
  }
  world.slices = [slice(1)]
  await world.clock.advance(1_800_000)
  expect(world.warnings.length).toBeGreaterThan(20)
  world.whenSaving = () => undefined
  world.saved.length = 0
  await world.clock.advance(80_000)
  expect([world.saved, world.estimation.state.state]).toEqual([[1], 'done'])
})

test('if the clock was set back during many searches, nothing was counted until the old time', async () => {
  const world = new World()
  world.isSearching = true
  world.slices = [slice(1)]
  await world.clock.advance(10_500)
  expect(world.estimation.state.state).toBe('paused')
  world.clock.setBack(3_600_000)
  await world.clock.advance(5000)
  expect(world.saved).toEqual([1])
})

test('each purge during counting counted as a failure, and after five of them counting stopped', async () => {
  const world = new World()
  world.isLongAfter = 0
  for (let purge = 0; purge < 6; purge += 1) {
    await world.clock.advance(10_000)
    world.estimation.shut()
    world.estimation.reopen()
  }
  world.isLongAfter = Infinity
  await world.clock.advance(10_000)
  expect([world.warnings, world.starts, world.estimation.state.state]).toEqual([[], 7, 'done'])
})

test('if it is switched off, nothing is counted', async () => {
  const world = new World(false)
  await world.clock.advance(3_600_000)
  await settle()
  expect([world.starts, world.estimation.state]).toEqual([0, { state: 'off', left: null }])
})

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

const coverageOf = async (url: string): Promise<TokensAnswer['coverage']> =>
  (await getJson<TokensAnswer>(url, '/api/tokens?groupBy=chat')).coverage

const CHATS = 30
const EACH = 50

test.skipIf(process.platform !== 'linux')(
  'if it is killed at any moment, no count is lost and nothing is counted twice',
  { timeout: 600_000 },
  async () => {
    const store = place.cursor.global()
    fillStore(store, { chats: CHATS, messagesPerChat: EACH, textLength: 8000 })
    const messages = CHATS * EACH
    let known = 0
    let kills = 0
    let estimated: unknown = null
    for (;;) {
      const { daemon, url } = await place.serve()
      await untilReady(url, 60_000)
      const coverage = await waitUntil(
        'some more counts',
        async () => {
          const now = await coverageOf(url)
          return now.estimated > known || now.unknown === 0 ? now : null
        },
        { withinMs: 180_000 },
      )
      expect(coverage.estimated).toBeGreaterThanOrEqual(known)
      expect(coverage.estimated + coverage.unknown).toBe(messages)
      known = coverage.estimated
      const estimator = childrenOf(daemon.pid).find(({ command }) => command.includes('\0estimate\0'))
      expect(estimator?.nice ?? 19).toBe(19)
      if (coverage.unknown === 0) {
        await waitUntil('its process to end', async () =>
          childrenOf(daemon.pid).every(({ command }) => !command.includes('\0estimate\0')),
        )
        estimated = (await getJson<TokensAnswer>(url, '/api/tokens')).totals.estimated
        await daemon.stop()
        break
      }
      kills += 1
      // Kills the daemon and the counting process by turns.
      if (kills % 2 === 0 && estimator !== undefined) process.kill(estimator.pid, 'SIGKILL')
      await daemon.stop('SIGKILL')
      await waitUntil('its process to end with it', () =>
        childrenOf(1).every(({ command }) => !command.includes(place.dataDir)),
      )
    }
    expect(estimated).toEqual(recounted(store))
    expect(kills).toBeGreaterThan(0)
  },
)

test.skipIf(process.platform !== 'linux')(
  'the counting process took 135 MB, most of it for the list of tokens as strings',
  async () => {
    fillStore(place.cursor.global(), { chats: 20, messagesPerChat: 50, textLength: 4000 })
    const { daemon, url } = await place.serve()
    let most = 0
    await waitUntil(
      'all counts',
      async () => {
        for (const { pid, command } of childrenOf(daemon.pid))
          if (command.includes('\0estimate\0')) most = Math.max(most, mostEverMb(pid))
        return (await coverageOf(url)).estimated === 20 * 50
      },
      { withinMs: 180_000 },
    )
    expect(most).toBeGreaterThan(50)
    expect(most).toBeLessThan(105)
  },
)

/** The most memory that the process ever had. 0 if it has ended. */
function mostEverMb(pid: number): number {
  try {
    const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kb ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Counts each message of the store separately. */
function recounted(store: ReturnType<Workplace['cursor']['global']>): unknown {
  const rows = store.db
    .prepare<[], string>(`select value from cursorDiskKV where key >= 'bubbleId:' and key < 'bubbleId;'`)
    .pluck()
    .all()
    .map((value) => JSON.parse(value) as { readonly type: number; readonly text: string })
  const of = (type: number): number =>
    rows.filter((row) => row.type === type).reduce((sum, { text }) => sum + countText(text), 0)
  return { input: of(1), output: of(2), messages: rows.length }
}

test('texts that are hard for a tokenizer are counted too, and searches are answered meanwhile', async () => {
  const store = place.cursor.global()
  const hostile = [
    'a'.repeat(1_000_000),
    '数据库'.repeat(200_000),
    `x${' '.repeat(500_000)}`,
    '<|endoftext|>'.repeat(20_000),
  ]
  for (const [index, text] of hostile.entries()) store.message('c', `m${index}`, { type: 2, text })
  store.chat('c', {
    createdAt: Date.now(),
    fullConversationHeadersOnly: headers(hostile.map((_, index) => `m${index}`)),
  })
  const { url } = await place.serve()
  await untilReady(url, 60_000)
  const isFound = async (): Promise<boolean> =>
    (await getJson<{ total: number }>(url, '/api/search?q=endoftext')).total === 1
  await waitUntil(
    'all counts',
    async () => {
      expect(await isFound()).toBe(true)
      return (await coverageOf(url)).unknown === 0
    },
    // Many searches in a row leave little time for counting.
    { withinMs: 180_000, everyMs: 200 },
  )
  const { totals } = await getJson<TokensAnswer>(url, '/api/tokens')
  expect(totals.estimated?.output).toBe(hostile.reduce((sum, text) => sum + countText(text), 0))
})

test('with tokens.estimate false nothing is counted, and the status says so', async () => {
  fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 5 })
  const config = join(place.root, 'config.json')
  writeFileSync(config, '{ "tokens": { "estimate": false } }')
  const { url } = await place.serve(['--config', config])
  await untilReady(url)
  await new Promise((resolve) => setTimeout(resolve, 13_000))
  expect((await getStatus(url)) as unknown).toMatchObject({ estimation: { state: 'off', left: null } })
  expect(await coverageOf(url)).toEqual({ messages: 10, recorded: 0, estimated: 0, unknown: 10 })
})

test('a usage file is imported with a daemon and without one', async () => {
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 4 })
  const file = join(place.root, 'usage.csv')
  writeFileSync(
    file,
    'Date,Model,Total Tokens,Cost\n2026-01-05T09:00:01Z,gpt-5,700,$0.04\n2025-01-05T09:00:01Z,gpt-5,8,-\n',
  )
  const alone = await place.run(['tokens', 'import', file, '--json'])
  expect(alone).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(alone.stdout)).toMatchObject({ rows: 2, matched: 1, unmatched: 1, already: 0 })
  await place.serve()
  const beside = await place.run(['tokens', 'import', file])
  expect(beside.stdout).toContain('2 already imported')
  const shown = await place.run(['tokens', '--group-by', 'chat', '--csv'])
  expect(shown.stdout).toMatch(/^chat-0,Chat 0,4,0,0,4,,,,,,,,,,,700,4,1,/m)
  const bad = await place.run(['tokens', 'import', join(place.root, 'nowhere.csv')])
  expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining('cannot be read (ENOENT)')])
})
