import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DescribedMatch } from '../../../src/api/answers/chats.ts'
import { CommitWorld, type PlannedChat } from '../../helpers/commit-world.ts'
import { GitRepository } from '../../helpers/git-repository.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Noon on a day without other activity. */
const NOON_MS = Date.UTC(2026, 2, 10, 12)
const at = (minutes: number): number => NOON_MS + minutes * MINUTE_MS

let repository: GitRepository
let world: CommitWorld
let first: string
beforeEach(async () => {
  repository = new GitRepository()
  world = await CommitWorld.open()
  first = repository.commit({
    atMs: NOON_MS - 30 * DAY_MS,
    files: { 'README.md': '0', 'src/old.ts': 'old\n'.repeat(30) },
  })
})
afterEach(async () => {
  await world.remove()
  repository.remove()
})

type Plan = Omit<PlannedChat, 'project'> & { readonly project?: string }

async function index(...chats: readonly Plan[]): Promise<void> {
  const shop = pathToFileURL(repository.root).href
  await world.index(
    { shop },
    chats.map((chat) => ({ project: 'shop', ...chat })),
  )
}

/** The chats of one commit, by id. */
async function chatsOf(sha: string, from = '2025-01-01'): Promise<Record<string, DescribedMatch>> {
  const { items } = await world.commits({ repo: repository.root, from })
  const chats = items.find((item) => item.sha === sha)?.chats
  expect(chats).toBeDefined()
  return Object.fromEntries((chats ?? []).map((chat) => [chat.id, chat]))
}

test('a chat that edited the files of the next commit matches with high confidence and evidence', async () => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1', 'src/b.ts': '1' } })
  await index({
    id: 'c1',
    acts: [
      { atMs: at(-20) },
      { atMs: at(-15), edits: 'src/a.ts' },
      { atMs: at(-10), edits: `${repository.root}/src/b.ts` },
    ],
  })
  expect(await chatsOf(sha)).toEqual({
    c1: {
      id: 'c1',
      title: 'Chat c1',
      confidence: 'high',
      evidence: {
        time: { messages: 3, from: new Date(at(-20)).toISOString(), to: new Date(at(-10)).toISOString() },
        files: { paths: ['src/a.ts', 'src/b.ts'], lastEditAt: new Date(at(-10)).toISOString() },
        tracking: null,
      },
    },
  })
})

test('of two chats in one window the one with the files is first, and time alone is low', async () => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1' } })
  await index(
    { id: 'talk', acts: [{ atMs: at(-5) }, { atMs: at(-4) }] },
    { id: 'work', acts: [{ atMs: at(-8) }, { atMs: at(-7), edits: 'src/a.ts' }] },
    { id: 'elsewhere', acts: [{ atMs: at(-6), edits: 'docs/other.md' }] },
    { id: 'refused', acts: [{ atMs: at(-6), edits: 'src/a.ts', isRejected: true }] },
    { id: 'reader', acts: [{ atMs: at(-6), reads: 'src/a.ts' }] },
  )
  const chats = await chatsOf(sha)
  expect(Object.keys(chats)[0]).toBe('work')
  const matches = Object.values(chats).map(({ id, confidence }) => [id, confidence])
  expect(matches).toEqual([
    ['work', 'high'],
    ['elsewhere', 'low'],
    ['reader', 'low'],
    ['refused', 'low'],
    ['talk', 'low'],
  ])
  expect(chats['elsewhere']?.evidence).toMatchObject({ files: null })
})

test('the window begins with the parent, at most 30 minutes before the commit', async () => {
  const early = repository.commit({ atMs: at(-10), files: { a: '1' } })
  const late = repository.commit({ atMs: at(0), files: { a: '2' } })
  await index(
    { id: 'before-parent', acts: [{ atMs: at(-12) }] },
    { id: 'in-second-of-parent', acts: [{ atMs: at(-10) + 500 }] },
    { id: 'after-parent', acts: [{ atMs: at(-10) + 1000 }] },
    { id: 'in-second-of-commit', acts: [{ atMs: at(0) + 900 }] },
    { id: 'after', acts: [{ atMs: at(0) + 1000 }] },
    { id: 'long-before', acts: [{ atMs: at(-41) }] },
  )
  expect(Object.keys(await chatsOf(late)).sort()).toEqual(['after-parent', 'in-second-of-commit'])
  expect(Object.keys(await chatsOf(early)).sort()).toEqual(['before-parent', 'in-second-of-parent'])
})

test('a chat over three commits matches each of them with its own files', async () => {
  const shas = [0, 10, 20].map((minute, step) =>
    repository.commit({ atMs: at(minute), files: { [`src/${step}.ts`]: '1', 'src/all.ts': `${step}` } }),
  )
  const acts = [0, 1, 2].flatMap((step) => [
    { atMs: at(step * 10 - 5), edits: `src/${step}.ts` },
    { atMs: at(step * 10 - 4), edits: 'src/all.ts' },
  ])
  await index({ id: 'long', acts })
  for (const [step, sha] of shas.entries()) {
    const { long } = await chatsOf(sha)
    expect(long?.evidence.files?.paths).toEqual([`src/${step}.ts`, 'src/all.ts'])
    expect(long?.confidence).toBe('high')
    expect(long?.evidence.time?.messages).toBe(2)
  }
})

test('edits that were committed a day later match by files, only once, and not by time', async () => {
  const other = repository.commit({ atMs: at(60), files: { 'src/other.ts': '1' } })
  const sha = repository.commit({ atMs: at(-5) + DAY_MS, files: { 'src/a.ts': '1', 'src/b.ts': '1' } })
  const again = repository.commit({ atMs: at(30) + DAY_MS, files: { 'src/a.ts': '2' } })
  const weeks = repository.commit({ atMs: at(0) + 16 * DAY_MS, files: { 'src/late.ts': '1' } })
  await index({
    id: 'c1',
    acts: [
      { atMs: at(-3), edits: 'src/a.ts' },
      { atMs: at(-2), edits: 'src/b.ts' },
      { atMs: at(-1), edits: 'src/late.ts' },
    ],
  })
  const match = (await chatsOf(sha))['c1']
  expect(match).toMatchObject({ confidence: 'high', evidence: { time: null } })
  expect(await chatsOf(other)).toEqual({})
  expect(await chatsOf(again)).toEqual({})
  expect(await chatsOf(weeks)).toEqual({})
})

test('edits of a day before are high, and edits of days before are medium', async () => {
  const files = Object.fromEntries(Array.from({ length: 8 }, (_, step) => [`src/${step}.ts`, '1']))
  const sha = repository.commit({ atMs: at(0), files })
  await index(
    { id: 'days', acts: [{ atMs: at(-10) - 8 * DAY_MS, edits: 'src/0.ts' }] },
    { id: 'two-files', acts: [4, 3].map((file) => ({ atMs: at(-10) - DAY_MS, edits: `src/${file}.ts` })) },
    { id: 'hours', acts: [{ atMs: at(-10) - 3 * HOUR_MS, edits: 'src/1.ts' }] },
  )
  const chats = await chatsOf(sha)
  expect(Object.values(chats).map(({ id, confidence }) => [id, confidence])).toEqual([
    ['hours', 'high'],
    ['two-files', 'medium'],
    ['days', 'medium'],
  ])
})

test('a root commit has a window, and a merge has the edits made for the merge', async () => {
  repository.git(['checkout', '--quiet', '-b', 'side'])
  repository.commit({ atMs: at(-60), files: { a: '1\n', b: '1\n' } })
  repository.git(['checkout', '--quiet', 'main'])
  repository.commit({ atMs: at(-50), files: { a: '2\n' } })
  expect(() => repository.git(['merge', '--quiet', 'side'])).toThrow('merge')
  const merge = repository.commit({ atMs: at(0), files: { a: '3\n' } })
  await index(
    { id: 'root', acts: [{ atMs: NOON_MS - 30 * DAY_MS - MINUTE_MS, edits: 'README.md' }] },
    { id: 'resolver', acts: [{ atMs: at(-5), edits: 'a' }] },
    { id: 'side', acts: [{ atMs: at(-5), edits: 'b' }] },
  )
  expect((await chatsOf(first))['root']?.confidence).toBe('high')
  const chats = await chatsOf(merge)
  expect(chats['resolver']?.confidence).toBe('high')
  expect(chats['side']).toMatchObject({ confidence: 'low', evidence: { files: null } })
})

test('a rebased commit keeps its author date, and an edit belongs to one commit only', async () => {
  const rebased = repository.commit({ atMs: at(0), committedAtMs: at(0) + 3 * DAY_MS, files: { 'src/a.ts': '1' } })
  const picked = repository.commit({ atMs: at(0), committedAtMs: at(0) + 4 * DAY_MS, files: { 'src/a.ts': '2' } })
  await index(
    { id: 'c1', acts: [{ atMs: at(-5), edits: 'src/a.ts' }] },
    { id: 'before-amending', acts: [{ atMs: at(-5) + 3 * DAY_MS, edits: 'src/a.ts' }] },
  )
  expect(await chatsOf(rebased)).toMatchObject({
    c1: { confidence: 'high', evidence: { files: { paths: ['src/a.ts'] } } },
  })
  expect(await chatsOf(picked)).toMatchObject({ c1: { confidence: 'low', evidence: { files: null } } })
})

test('a renamed file matches by its former name', async () => {
  repository.git(['mv', 'src/old.ts', 'src/new.ts'])
  const sha = repository.commit({ atMs: at(0), files: { 'src/new.ts': `${'old\n'.repeat(30)}more\n` } })
  await index(
    { id: 'by-old', acts: [{ atMs: at(-9), edits: 'src/old.ts' }] },
    { id: 'by-new', acts: [{ atMs: at(-8), edits: 'src/new.ts' }] },
  )
  const chats = await chatsOf(sha)
  expect(Object.values(chats).map(({ confidence }) => confidence)).toEqual(['high', 'high'])
})

test('a chat whose messages have no times matches by its files, which count at its end', async () => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1' } })
  await index(
    { id: 'dated', acts: [{ atMs: null, edits: 'src/a.ts' }], createdAtMs: at(-5) },
    { id: 'talk', acts: [{ atMs: null }], createdAtMs: at(-5) },
    { id: 'undated', acts: [{ atMs: null, edits: 'src/a.ts' }] },
  )
  const chats = await chatsOf(sha)
  expect(Object.keys(chats)).toEqual(['dated'])
  expect(chats['dated']).toMatchObject({ confidence: 'high', evidence: { time: null } })
})

test('windows and dates are right when clocks change', async () => {
  // In Berlin 02:30 occurred twice on this day: at 00:30 and at 01:30 UTC.
  const before = Date.UTC(2025, 9, 26, 0, 30)
  const after = Date.UTC(2025, 9, 26, 1, 30)
  const summer = repository.commit({ atMs: before, zone: '+0200', files: { a: '1' } })
  const winter = repository.commit({ atMs: after, zone: '+0100', files: { b: '1' } })
  await index(
    { id: 'summer', acts: [{ atMs: before - MINUTE_MS }] },
    { id: 'winter', acts: [{ atMs: after - MINUTE_MS }] },
  )
  expect(Object.keys(await chatsOf(summer))).toEqual(['summer'])
  expect(Object.keys(await chatsOf(winter))).toEqual(['winter'])
  const repo = repository.root
  const berlin = { repo, tz: 'Europe/Berlin' }
  expect((await world.commits({ ...berlin, from: '2025-10-26', to: '2025-10-27' })).total).toBe(2)
  expect(
    (await world.commits({ ...berlin, from: '2025-10-26T02:30+01:00' })).items.map(({ sha }) => sha),
  ).not.toContain(summer)
  const lastHour = Date.UTC(2025, 9, 26, 22, 30)
  const sha = repository.commit({ atMs: lastHour, files: { c: '1' } })
  expect((await world.commits({ ...berlin, from: '2025-10-26', to: '2025-10-27' })).items[0]?.sha).toBe(sha)
  expect((await world.commits({ ...berlin, tz: 'Europe/Moscow', to: '2025-10-27', from: '2025-10-26' })).total).toBe(2)
})

test('a project in a subfolder has the commits of the repository, and its own files and chats', async () => {
  const app = repository.commit({ atMs: at(0), files: { 'packages/app/a.ts': '1' } })
  const url = (path: string) => pathToFileURL(`${repository.root}${path}`).href
  await world.index({ whole: url(''), app: url('/packages/app') }, [
    { id: 'in-app', project: 'app', acts: [{ atMs: at(-5), edits: 'a.ts' }] },
    { id: 'above', project: 'whole', acts: [{ atMs: at(-5), edits: 'packages/app/a.ts' }] },
  ])
  const { items, total } = await world.commits({ repo: 'app' })
  expect(items.map(({ sha }) => sha)).toEqual([app, first])
  expect(total).toBe(2)
  expect(items[0]?.chats).toMatchObject([
    { id: 'in-app', confidence: 'high', evidence: { files: { paths: ['a.ts'] } } },
  ])
  const whole = await world.commits({ repo: repository.root })
  expect(whole.items[0]?.chats.map(({ id, confidence }) => [id, confidence])).toEqual([
    ['above', 'high'],
    ['in-app', 'high'],
  ])
})

test('lists have pages', async () => {
  const shas = [0, 60, 120].map((minute) => repository.commit({ atMs: at(minute), files: { a: `${minute}` } }))
  await index(
    {
      id: 'c1',
      acts: [
        { atMs: at(-5), edits: 'a' },
        { atMs: at(115), edits: 'a' },
      ],
    },
    { id: 'c2', acts: [{ atMs: at(59) }] },
  )
  const repo = repository.root
  expect(await world.commits({ repo, limit: '1', offset: '1' })).toMatchObject({ total: 4, items: [{ sha: shas[1] }] })
})

interface ListedChat {
  readonly id: string
  readonly commit: { readonly confidence: string; readonly evidence: unknown }
}

test('the chats of a commit are listed by likelihood, and other filters apply too', async () => {
  const sha = repository.commit({ atMs: at(0), files: { a: '1' } })
  await index(
    { id: 'talk', title: 'Something else', acts: [{ atMs: at(-1) }] },
    { id: 'work', title: 'The login page', acts: [{ atMs: at(-9), edits: 'a' }] },
    { id: 'far', acts: [{ atMs: at(-900) }] },
  )
  const listOf = async (query: string): Promise<ListedChat[]> => {
    const response = await world.ask(`/api/chats?repo=${encodeURIComponent(repository.root)}&${query}`)
    expect(response.status).toBe(200)
    return ((await response.json()) as { readonly items: ListedChat[] }).items
  }
  const listed = await listOf(`commit=${sha.slice(0, 8).toUpperCase()}`)
  expect(listed.map(({ id, commit }) => [id, commit.confidence])).toEqual([
    ['work', 'high'],
    ['talk', 'low'],
  ])
  expect((await listOf(`commit=${sha}&sort=newest`)).map(({ id }) => id)).toEqual(['talk', 'work'])
  expect((await listOf(`commit=${sha}&q=login`)).map(({ id }) => id)).toEqual(['work'])
})

interface ProblemBody {
  readonly status: number
  readonly code: string
  readonly detail: string
}

const problemOf = async (path: string): Promise<ProblemBody> => (await (await world.ask(path)).json()) as ProblemBody

test('a bad parameter is refused by name', async () => {
  await index({ id: 'c1', acts: [{ atMs: at(-9) }] })
  const repo = encodeURIComponent(repository.root)
  expect(await problemOf('/api/commits?repo=/etc')).toMatchObject({ status: 400, code: 'bad-parameter' })
  expect((await problemOf('/api/commits?repo=/etc')).detail).toContain(repository.root)
  expect(await problemOf(`/api/chats?repo=${repo}`)).toMatchObject({
    status: 400,
    detail: expect.stringContaining('"commit"'),
  })
  expect(await problemOf('/api/chats?commit=abcd')).toMatchObject({
    status: 400,
    detail: expect.stringContaining('"repo"'),
  })
  expect((await world.ask(`/api/chats?repo=${repo}&commit=HEAD`)).status).toBe(200)
  for (const odd of ['--all', '']) {
    const path = `/api/chats?repo=${repo}&commit=${encodeURIComponent(odd)}`
    expect(await problemOf(path)).toMatchObject({ status: 400, detail: expect.stringContaining('"commit"') })
  }
  const nowhere = first.startsWith('0000') ? 'ffff' : '0000'
  expect(await problemOf(`/api/chats?repo=${repo}&commit=${nowhere}`)).toMatchObject({
    status: 404,
    code: 'commit-not-found',
  })
})

test('a project with an unreadable history gives a reason', async () => {
  const sha = repository.commit({ atMs: at(0), files: { a: '1' } })
  const gone = new GitRepository()
  const shop = pathToFileURL(repository.root).href
  const roots = { shop, away: 'vscode-remote://ssh-remote%2Bbuild/home/ada/away', gone: pathToFileURL(gone.root).href }
  await world.index(
    roots,
    ['shop', 'away', 'gone'].map((project) => ({ id: project, project, acts: [{ atMs: at(-5) }] })),
  )
  rmSync(gone.root, { recursive: true })
  expect(await problemOf('/api/commits')).toMatchObject({ status: 400, code: 'bad-parameter' })
  const away = await problemOf('/api/commits?repo=away')
  expect(away).toMatchObject({ status: 409, code: 'repo-missing', detail: expect.stringContaining('away') })
  expect(await problemOf(`/api/commits?repo=${encodeURIComponent(gone.root)}`)).toMatchObject({
    status: 409,
    code: 'repo-missing',
    detail: expect.stringContaining(gone.root),
  })
  expect(await problemOf(`/api/chats?repo=away&commit=${sha}`)).toMatchObject({ status: 409 })
})

test('a subagent’s edits count for its parent chat with every filter', async () => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1' } })
  await index(
    { id: 'parent', acts: [{ atMs: NOON_MS - 40 * DAY_MS }] },
    { id: 'child', parentId: 'parent', acts: [{ atMs: at(-1), edits: 'src/a.ts' }] },
  )
  for (const from of ['2025-01-01', '2026-03-10']) {
    expect(Object.keys(await chatsOf(sha, from))).toEqual(['parent'])
  }
})

test('code recorded before a scored commit raises a match by time, and is shown as evidence', async () => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1' } })
  const chats = [
    { id: 'coded', acts: [{ atMs: at(-9) }, { atMs: at(-3) }], trackedMs: [at(-8), at(-7), at(-5)] },
    { id: 'talked', acts: [{ atMs: at(-9) }] },
    { id: 'undated', acts: [{ atMs: null }], trackedMs: [at(-6)] },
    { id: 'elsewhere', acts: [{ atMs: at(-6), edits: 'docs/other.md' }], trackedMs: [at(-6)] },
    { id: 'long-ago', acts: [{ atMs: at(-9) }], trackedMs: [at(-600)] },
    { id: 'files', acts: [{ atMs: at(-9), edits: 'src/a.ts' }], trackedMs: [at(-9)] },
  ].map((chat) => ({ project: 'shop', ...chat }))
  await world.index({ shop: pathToFileURL(repository.root).href }, chats, { [sha]: 12 })
  const matches = await chatsOf(sha)
  expect(Object.values(matches).map(({ id, confidence }) => [id, confidence])).toEqual([
    ['files', 'high'],
    ['coded', 'medium'],
    ['elsewhere', 'medium'],
    ['undated', 'medium'],
    ['long-ago', 'low'],
    ['talked', 'low'],
  ])
  const iso = (minutes: number): string => new Date(at(minutes)).toISOString()
  expect(matches['coded']?.evidence.tracking).toEqual({ from: iso(-8), to: iso(-5) })
  expect([matches['talked']?.evidence.tracking, matches['long-ago']?.evidence.tracking]).toEqual([null, null])
})

test.each([
  ['that Cursor did not score', {}],
  ['in which Cursor found no line of a chat', { isEmpty: true }],
])('recorded code is no evidence for a commit %s', async (_, { isEmpty = false }: { isEmpty?: boolean }) => {
  const sha = repository.commit({ atMs: at(0), files: { 'src/a.ts': '1' } })
  const chat = { project: 'shop', id: 'coded', acts: [{ atMs: at(-9) }], trackedMs: [at(-8)] }
  await world.index({ shop: pathToFileURL(repository.root).href }, [chat], isEmpty ? { [sha]: 0 } : {})
  expect(await chatsOf(sha)).toMatchObject({ coded: { confidence: 'low', evidence: { tracking: null } } })
})
