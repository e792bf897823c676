import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hubSchedule } from '../../src/engine/hub/sharing.ts'
import { UserError } from '../../src/model/user-error.ts'

const MINUTE = 60_000

// The package that reads cron expressions asks the clock itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 2, 1, 12) }))
afterEach(() => void vi.useRealTimers())

/** A schedule at a clock that the test moves. The hub is fake: it fails, or lets chats wait. */
function begin(push: readonly string[], pull: readonly string[]) {
  const world = {
    nowMs: Date.UTC(2026, 2, 1, 12),
    error: null as UserError | null,
    done: [] as string[],
  }
  const said: string[] = []
  const answer = async <Value>(name: string, value: Value): Promise<Value> => {
    world.done.push(name)
    if (world.error !== null) throw world.error
    return value
  }
  const shared = { removed: 0, unchanged: 0, bytes: 0 }
  const schedule = '*/10 * * * *'
  const hub = hubSchedule(
    {
      url: 'postgres://h/d',
      machine: 'm',
      push: { projects: push, redact: true, schedule },
      pull: { projects: pull, schedule },
    },
    {
      push: () => answer('push', { pushed: 0, ...shared, leftOut: [], notice: null }),
      pull: () => answer('pull', { pulled: 0, ...shared }),
    },
    {
      now: () => world.nowMs,
      zone: () => 'UTC',
      later: (act) => act(),
      log: (_level, sentence) => said.push(sentence),
    },
  )
  const minutes = async (count: number): Promise<string[]> => {
    world.done = []
    for (let at = 0; at < count; at += 1) {
      hub.tick()
      await new Promise((resume) => setImmediate(resume))
      world.nowMs += MINUTE
      vi.setSystemTime(world.nowMs)
    }
    return world.done
  }
  return { world, hub, said, minutes }
}

test('nothing is sent or fetched until projects are named', async () => {
  expect(await begin([], []).minutes(60)).toEqual([])
  expect(new Set(await begin([], ['*']).minutes(60))).toEqual(new Set(['pull']))
})

test('it pushes and pulls every ten minutes', async () => {
  const { minutes } = begin(['*'], ['*'])
  expect(await minutes(20)).toEqual(['push', 'pull', 'push', 'pull'])
})

test('while the hub does not answer, the status says so and the pauses grow', async () => {
  const { world, hub, said, minutes } = begin([], ['*'])
  world.error = new UserError('hub-unreachable', 'The hub cannot be reached: nothing listens there.', 'Later.')
  expect((await minutes(60)).length).toBeLessThanOrEqual(5)
  expect(hub.listReasons()).toEqual(['hub-unreachable: The hub cannot be reached: nothing listens there.'])
  // The log says it once.
  expect(said).toHaveLength(1)
  world.error = null
  await minutes(60)
  expect(hub.listReasons()).toEqual([])
})
