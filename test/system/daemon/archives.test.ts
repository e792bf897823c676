import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { objectPath } from '../../../src/archive/names.ts'
import { Workplace, getJson, untilReady } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

interface Run {
  readonly name: string
  readonly state: string
  readonly chats: number | null
  readonly messages: number | null
  readonly scope: unknown
  readonly sha256: string | null
  readonly provenAt: string | null
}

let place: Workplace

beforeEach(() => {
  place = new Workplace()
  const store = place.cursor.global()
  for (const id of ['a', 'b']) {
    store.chat(id, { name: `Chat ${id}`, fullConversationHeadersOnly: headers([`${id}1`]) })
    store.message(id, `${id}1`, {
      type: 1,
      text: `${id === 'a' ? 'plum' : 'pear'} tree`,
      createdAt: '2026-02-01T00:00:00.000Z',
    })
  }
})
afterEach(() => place.remove())

const post = (body: unknown): RequestInit => {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

const untilMade = (url: string, name: string): Promise<Run> =>
  waitUntil('the archive', async () => {
    const run = await getJson<Run>(url, `/api/archives/${name}`)
    return run.state === 'running' ? null : run
  })

test('over HTTP an archive is made, shown, verified, and found damaged', async () => {
  const { url } = await place.serve()
  await untilReady(url)
  const response = await fetch(`${url}/api/archives`, post({}))
  expect(response.status).toBe(202)
  const begun = (await response.json()) as Run
  expect(begun).toMatchObject({ state: 'running', scope: null, provenAt: null, chats: null, sha256: null })
  const made = await untilMade(url, begun.name)
  expect(made).toMatchObject({ name: begun.name, state: 'verified', chats: 2, messages: 2 })
  expect(await getJson(url, '/api/archives')).toMatchObject({ items: [made], total: 1, limit: 20, offset: 0 })
  const dir = join(place.dataDir, 'archives')
  const text = readFileSync(join(dir, 'runs', `${made.name}.json`), 'utf8')
  expect(text).toContain(`"sha256": "${made.sha256 ?? ''}"`)
  const some = await untilMade(url, (await getJson<Run>(url, '/api/archives', post({ scope: 'plum' }))).name)
  expect(some).toMatchObject({ chats: 1, scope: 'plum' })
  const sound = await getJson(url, `/api/archives/${made.name}/verify`, post({}))
  expect(sound).toMatchObject({ ok: true, checked: 4, damaged: [] })
  const { object = '' } =
    (JSON.parse(text) as { chats: { id: string; object: string }[] }).chats.find(({ id }) => id === 'b') ?? {}
  writeFileSync(join(dir, objectPath(object)), 'rubbish')
  expect(await getJson(url, `/api/archives/${made.name}/verify`, post({}))).toMatchObject({ ok: false, damaged: ['b'] })
  const states = (await getJson<{ items: Run[] }>(url, '/api/archives')).items.map(({ name, state }) => [name, state])
  expect(states).toEqual([
    [some.name, 'verified'],
    [made.name, 'damaged'],
  ])
  expect(await getJson(url, '/api/status')).toMatchObject({ archives: { running: null, failed: [] } })
  const mode = statSync(join(place.dataDir, 'archives.json')).mode & 0o777
  expect(process.platform === 'win32' ? 0o600 : mode).toBe(0o600)
})

test.each<[body: unknown, why: RegExp]>([
  [{ scope: { projct: 'a' } }, /Did you mean .*project/],
  [{ scope: { from: 'soon' } }, /not a date/],
  [{ scope: { project: 5 } }, /neither a text nor/],
  [{ scope: '' }, /scope is empty/],
  [{ scope: 5 }, /must be a search/],
  [{ scop: 'a' }, /scope/],
])('a run of %j is refused with the reason', async (body, why) => {
  const { url } = await place.serve()
  const response = await fetch(`${url}/api/archives`, post(body))
  expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(why)])
  expect((await fetch(`${url}/api/archives/none`)).status).toBe(404)
})

test('without a daemon the command makes, lists and verifies archives, and its exit code reports damage', async () => {
  const made = await place.run(['archive', 'run', '--json'])
  expect([made.stderr.includes('Error'), made.exitCode]).toEqual([false, 0])
  const { name } = JSON.parse(made.stdout) as Run
  const listed = await place.run(['archive', 'list'])
  expect(listed.stdout).toMatch(new RegExp(`${name}\\s+verified`))
  expect(await place.run(['archive', 'verify'])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('3 files read'),
  })
  writeFileSync(join(place.dataDir, 'archives', 'runs', `${name}.json`), '{}')
  const verdict = await place.run(['archive', 'verify', name])
  expect([verdict.exitCode, verdict.stdout]).toEqual([1, expect.stringContaining(`damaged archive: ${name}`)])
})

test('an undamaged archive verifies by its name, damage elsewhere is reported, and the whole folder does not verify', async () => {
  const whole = JSON.parse((await place.run(['archive', 'run', 'plum', '--json'])).stdout) as Run
  const spoilt = JSON.parse((await place.run(['archive', 'run', 'pear', '--json'])).stdout) as Run
  const dir = join(place.dataDir, 'archives')
  const manifest = readFileSync(join(dir, 'runs', `${spoilt.name}.json`), 'utf8')
  const [chat] = (JSON.parse(manifest) as { chats: { object: string }[] }).chats
  writeFileSync(join(dir, objectPath(chat?.object ?? '')), 'rubbish')
  const byName = await place.run(['archive', 'verify', whole.name])
  expect([byName.exitCode, byName.stdout]).toEqual([0, expect.stringContaining(`damaged archive: ${spoilt.name}`)])
  expect(byName.stderr).toContain(`${whole.name} is undamaged. Elsewhere in the folder: 1 chat and 1 archive`)
  expect(await place.run(['archive', 'verify', spoilt.name])).toMatchObject({ exitCode: 1 })
  expect(await place.run(['archive', 'verify'])).toMatchObject({ exitCode: 1 })
  // Reading a part does not show whether the archive is undamaged.
  writeFileSync(join(dir, 'stray'), '')
  expect(await place.run(['archive', 'verify', whole.name])).toMatchObject({ exitCode: 0 })
  expect(await place.run(['archive', 'verify', whole.name, '--share', '0.1'])).toMatchObject({ exitCode: 1 })
})
