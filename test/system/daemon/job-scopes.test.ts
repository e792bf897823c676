import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requireScopes } from '../../../src/daemon/lifecycle/startup-checks.ts'
import { loadSettings } from '../../../src/settings.ts'
import { Workplace } from '../../helpers/spawn-cursordex.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

const keep = { daily: 1, weekly: 1, monthly: 1 }

/** A config file whose second job has this scope. */
function configOf(scope: unknown): string {
  const job = { schedule: '0 3 * * 0', keep }
  const jobs = [
    { ...job, name: 'all' },
    { ...job, name: 'some', scope },
  ].map((each) => JSON.stringify(each))
  const file = join(place.dataDir, '..', 'config.json')
  writeFileSync(file, `{ "archives": { "jobs": [\n${jobs.join(',\n')}\n] } }`)
  return file
}

const required = (config: string): Promise<void> => {
  const settings = loadSettings({ flags: { config }, env: {}, platform: 'linux', homeDir: '/home/ada' })
  return requireScopes(settings, { zone: () => 'UTC', now: () => Date.UTC(2026, 1, 1) })
}

test.each<[scope: unknown, why: RegExp, hint: RegExp]>([
  [{ projekt: 'shop' }, /"projekt" is not a part of a scope/, /Did you mean "project"/],
  [{ from: 'garbage' }, /"from" of the scope is not a date/, /such as 2026-03-01/],
  [{ project: 5 }, /"project" of the scope is neither a text/, /one of them/],
  [{ role: 'robot' }, /"role" of the scope cannot be "robot"/, /user, assistant/],
  [{ q: 'leak', in: ['code', 'text ', 'title'] }, /"in" of the scope cannot be "text "/, /thinking/],
  [{}, /scope is empty/, /leave the scope out/],
  [{ q: '' }, /scope is empty/, /leave the scope out/],
  ['""', /scope is empty/, /leave the scope out/],
])('a job whose scope was %j was found to be wrong only when it ran', async (scope, why, hint) => {
  const config = configOf(scope)
  await expect(required(config)).rejects.toMatchObject({
    code: 'bad-setting',
    exitCode: 2,
    message: expect.stringMatching(why),
    hint: expect.stringMatching(hint),
  })
  await expect(required(config)).rejects.toThrow(`archives.jobs[1].scope is wrong (${config}:3:`)
})

test.each([null, 'project:shop', { project: 'shop', from: '7d' }, { role: ['user', 'assistant'], in: 'title' }])(
  'a job whose scope is %j may run',
  async (scope) => {
    await expect(required(configOf(scope))).resolves.toBeUndefined()
  },
)

test('a daemon with a job that can never run does not start, and names the job, with exit code 2', async () => {
  const config = configOf({ projekt: 'shop' })
  const ended = await place.run(['serve', '--config', config])
  expect([ended.exitCode, ended.stdout]).toEqual([2, ''])
  expect(ended.stderr).toContain(`archives.jobs[1].scope is wrong (${config}:3:`)
})
