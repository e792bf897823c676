import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Upkeep } from '../../src/daemon/follow/upkeep.ts'
import { startSchedule, type Schedule } from '../../src/daemon/schedule.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../src/engine/writer/messages.ts'
import type { PartsCheck } from '../../src/mirror/maintenance/check-in-parts.ts'
import { UserError } from '../../src/model/user-error.ts'

describe('checks of the mirror:', () => {
  const WEEK_MS = 7 * 24 * 3_600_000
  const sound: UpkeepOutcome = { damage: 'none', news: [], notices: [], backlog: 0, termsCheckedAtMs: null }

  const lastPages: PartsCheck = { sound: ['last'], damage: 'none', hasMore: false }

  /** An upkeep whose writer gives these outcomes, one after the other, and a list of all calls. */
  function upkeepOf(answers: readonly (UpkeepOutcome | UserError)[], pages: PartsCheck[] = []) {
    const happened: string[] = []
    const world = { nowMs: WEEK_MS * 100, areTermsSound: true }
    const left = [...answers]
    const upkeep = new Upkeep({
      log: pino({ level: 'silent' }),
      writer: {
        maintain: ({ task, suspected }: UpkeepTask) => {
          happened.push(suspected === 'none' ? task : `${task} ${suspected}`)
          const answer = left.shift() ?? sound
          return answer instanceof UserError ? Promise.reject(answer) : Promise.resolve(answer)
        },
        noteChecked: (parts) => Promise.resolve(happened.push(`sound ${parts.join(' ')}`)),
      },
      readers: { shut: () => happened.push('shut'), reopen: () => happened.push('reopen') },
      now: () => world.nowMs,
      later: (act, delayMs) => {
        happened.push(`later ${delayMs}`)
        queueMicrotask(act)
      },
      explain: (error) => error as UserError,
      checkTerms: () => Promise.resolve(world.areTermsSound),
      checkPages: () => Promise.resolve(pages.shift() ?? lastPages),
      onBacklog: (backlog) => happened.push(`backlog ${backlog}`),
      onReplaced: () => happened.push('made'),
    })
    return { upkeep, happened, world }
  }

  test('a damaged mirror is replaced while nobody reads it', async () => {
    const { upkeep, happened } = upkeepOf([
      { ...sound, damage: 'rows' },
      { ...sound, backlog: 7 },
    ])
    await upkeep.check()
    expect(happened).toEqual(['check', 'shut', 'set-aside', 'reopen', 'backlog 7', 'made'])
  })

  test('a repair that fails is tried again, and its error is cleared afterwards', async () => {
    const full = new UserError('disk-full', 'The disk is full.', 'Make room.')
    const { upkeep, happened } = upkeepOf([{ ...sound, damage: 'rows' }, full, sound])
    const done = upkeep.check()
    await upkeep.check()
    await done
    expect(happened).toEqual(['check', 'shut', 'set-aside', 'reopen', 'later 30000', 'check', 'backlog 0', 'made'])
    expect(upkeep.error).toBeNull()
  })

  test('the full-text tables are checked once a week, however often the check is called', async () => {
    const { upkeep, happened, world } = upkeepOf([{ ...sound, termsCheckedAtMs: WEEK_MS * 99.5 }])
    await upkeep.check()
    await upkeep.checkTermsIfDue()
    expect(happened).toEqual(['check', 'backlog 0'])
    world.nowMs += WEEK_MS
    world.areTermsSound = false
    await upkeep.checkTermsIfDue()
    expect(happened.slice(2)).toEqual(['check-terms terms', 'backlog 0'])
  })

  test('after a check under a clock that was years ahead, the full-text tables were not checked for years', async () => {
    const { upkeep, happened } = upkeepOf([{ ...sound, termsCheckedAtMs: WEEK_MS * 1000 }])
    await upkeep.check()
    await upkeep.checkTermsIfDue()
    expect(happened.slice(2)).toEqual(['check-terms', 'backlog 0'])
  })

  test('pages are checked part by part as long as nothing else happens, then not before an hour', async () => {
    const more: PartsCheck = { sound: ['a', 'b'], damage: 'none', hasMore: true }
    const { upkeep, happened, world } = upkeepOf([], [more, more])
    let turns = 1
    const isFree = (): boolean => (turns -= 1) >= 0
    await upkeep.checkPagesIfDue(isFree)
    expect(happened.splice(0)).toEqual(['sound a b'])
    turns = 9
    await upkeep.checkPagesIfDue(isFree)
    await upkeep.checkPagesIfDue(isFree)
    expect(happened.splice(0)).toEqual(['sound a b', 'sound last'])
    world.nowMs += 3_600_000
    await upkeep.checkPagesIfDue(isFree)
    expect(happened).toEqual(['sound last'])
  })

  test('damage that the check in parts finds is checked again before the mirror is replaced', async () => {
    const bad: PartsCheck = { sound: ['a'], damage: 'rows', hasMore: false }
    const { upkeep, happened } = upkeepOf([{ ...sound, damage: 'rows' }], [bad])
    await upkeep.checkPagesIfDue(() => true)
    expect(happened).toEqual(['check', 'shut', 'set-aside', 'reopen', 'backlog 0', 'made'])
  })
})

describe('what is done by the clock:', () => {
  const HOUR_MS = 3_600_000
  const MINUTE_MS = 60_000

  let done: string[]
  let schedule: Schedule
  let archive: () => void
  let pageChecks: number
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 5, 9, 57, 30) })
    done = []
    pageChecks = 0
    archive = () => done.push('archive')
    schedule = startSchedule({
      reconcile: () => done.push('reconcile'),
      checkTermsIfDue: () => done.push('check'),
      checkPagesIfDue: () => (pageChecks += 1),
      archive: () => archive(),
      showProgress: null,
      onFault: (error) => done.push(String(error)),
    })
  })
  afterEach(() => {
    schedule.stop()
    vi.useRealTimers()
  })

  /** The tasks that ran while time passed. */
  function pass(ms: number): string[] {
    done = []
    vi.advanceTimersByTime(ms)
    return done
  }

  const count = (what: string): number => done.filter((each) => each === what).length

  test('jobs are checked every minute, changed sources every full ten minutes, and the index halfway between', () => {
    expect(pass(30_000)).toEqual(['archive'])
    expect(pass(2 * MINUTE_MS)).toEqual(['archive', 'reconcile', 'archive'])
    expect(pass(5 * MINUTE_MS)).toEqual(['archive', 'archive', 'archive', 'archive', 'archive', 'check'])
    pass(HOUR_MS)
    expect([count('archive'), count('reconcile'), count('check')]).toEqual([60, 6, 6])
    expect(pageChecks).toBe(68)
  })

  test('after the clock was set back by a day, no task ran for a day', () => {
    vi.setSystemTime(Date.now() - 24 * HOUR_MS)
    pass(HOUR_MS)
    expect(count('archive')).toBeGreaterThanOrEqual(60)
    expect(count('reconcile')).toBeGreaterThanOrEqual(6)
    expect(count('check')).toBeGreaterThanOrEqual(6)
  })

  test('after the clock was set ahead by 25 years, the daemon processed each minute of them', () => {
    vi.setSystemTime(Date.now() + 25 * 365 * 24 * HOUR_MS)
    expect(pass(MINUTE_MS)).toEqual(['reconcile', 'archive', 'check'])
    pass(HOUR_MS)
    expect(count('archive')).toBe(60)
  })

  test('if nobody sees the progress, the daemon wakes only once a minute', () => {
    expect(vi.getTimerCount()).toBe(1)
  })

  test('a task that fails is reported, and the other tasks continue', () => {
    archive = () => {
      throw new Error('a fault')
    }
    expect(pass(3 * MINUTE_MS)).toEqual(['Error: a fault', 'Error: a fault', 'reconcile', 'Error: a fault'])
  })
})
