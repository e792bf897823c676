import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { headers, toolData } from '../helpers/cursor.ts'
import { GitRepository } from '../helpers/git-repository.ts'
import { untilReady, Workplace } from '../helpers/spawn-cursordex.ts'
import { Paper, run } from './fake-world.ts'

const sha = 'abcdef0123456789abcdef0123456789abcdef01'
const match = (id: string, extra: object = {}) => ({
  id,
  title: `Fix\tthe \u001b[31m${id}`,
  confidence: 'high',
  score: 0.9,
  evidence: {
    time: { messages: 1200, from: null, to: null },
    branch: 'same',
    files: { paths: ['a', 'b'], share: 1, lastEditAt: null, when: 'earlier' },
    editedElsewhere: false,
    ...extra,
  },
})
const commit = {
  sha,
  committedAt: '2026-02-19T20:30:00.000Z',
  subject: 'Do\u202e it',
  chats: [match('c1'), match('c2')],
}
const lonely = { ...commit, sha: sha.replace('abc', '999'), committedAt: null, chats: [] }
const answer = { items: [commit, lonely], total: 2, limit: 20, offset: 0, warnings: ['Older\u001b ones are left out.'] }

const projects = [
  { id: 'outer', path: '/home/ada', remote: null },
  { id: 'shop', path: '/home/ada/shop', remote: null },
  { id: 'shopping', path: '/home/ada/shopping', remote: null },
  { id: 'far', path: '/home/ada/shop/src', remote: { kind: 'ssh', host: 'x' } },
]
const world = { workingDir: '/home/ada/shop/src/deep' }
const reply = ({ path }: { readonly path: string }) =>
  path === '/api/projects' ? { items: projects, total: projects.length, limit: 200, offset: 0 } : answer

const repoAsked = (calls: readonly { readonly query: string }[]) => new URLSearchParams(calls.at(-1)?.query).get('repo')

test('commits takes the innermost local project that contains the folder', async () => {
  const { calls, exitCode } = await run(['commits'], reply, world)
  expect(exitCode).toBe(0)
  expect(calls.map(({ path }) => path)).toEqual(['/api/projects', '/api/commits'])
  expect(repoAsked(calls)).toBe('shop')
  expect(repoAsked((await run(['commits', '--repo', '../../../shopping'], reply, world)).calls)).toBe('shopping')
  expect(repoAsked((await run(['commits', '--repo', '/home/ada/other'], reply, world)).calls)).toBe('outer')
})

test('commits outside of every project says how to name one', async () => {
  const { exitCode, err } = await run(['commits'], reply, { workingDir: '/srv' })
  expect(exitCode).toBe(2)
  expect(err).toBe('No known project contains /srv.\nName a project with --repo. List them with: cursordex projects\n')
})

test('commits sends its filters, and the name of a project unchanged', async () => {
  const argv = 'commits --repo shop --from 7d --to 2026-03-01 --tz UTC --chat c1 --confidence medium --window 60'
  const { calls } = await run([...argv.split(' '), '--limit', '5', '--offset', '10'], reply, world)
  expect(calls.map(({ path }) => path)).toEqual(['/api/commits'])
  expect(Object.fromEntries(new URLSearchParams(calls[0]?.query))).toEqual({
    repo: 'shop',
    from: '7d',
    to: '2026-03-01',
    tz: 'UTC',
    chat: 'c1',
    confidence: 'medium',
    window: '60',
    limit: '5',
    offset: '10',
  })
  expect((await run(['commits', '--window', '0'], reply, world)).exitCode).toBe(2)
  expect((await run(['commits', '--confidence', 'sure'], reply, world)).exitCode).toBe(2)
})

test('commits prints complete lines for programs, without control characters', async () => {
  const { out, err } = await run(['commits'], reply, world)
  const lines = out.split('\n').map((line) => line.split('\t'))
  const expected = [
    'abcdef012',
    '2026-02-20 05:30',
    String.raw`Do\u202e it`,
    'high',
    String.raw`Fix the \x1b[31mc1`,
    '2 files earlier, 1,200 messages, its branch',
    'c1',
  ]
  expect(lines[0]).toEqual(expected)
  expect(lines[1]?.slice(0, 1)).toEqual(['abcdef012'])
  expect(lines[2]?.slice(3)).toEqual(['-', '-', '-', '-'])
  // oxlint-disable-next-line no-control-regex
  expect(out + err).not.toMatch(/[\u001b\u202e]/)
  expect(err).toContain('ones are left out.')
  const json = await run(['commits', '--json'], reply, world)
  expect(JSON.parse(json.out)).toEqual(answer)
})

test('a terminal shows each commit once, also with several chats', async () => {
  for (const width of [60, 110, 160]) {
    const stdout = new Paper(width)
    await run(['commits'], reply, { ...world, stdout, env: { NO_COLOR: '1' } })
    const lines = stdout.text.trimEnd().split('\n')
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^\S*commit/)
    expect(stdout.text.split('abcdef012')).toHaveLength(2)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
  }
})

test('the evidence of a chat is shown in words', async () => {
  const chats = [
    match('c1', { files: null, branch: null, time: { messages: null } }),
    match('c2', { files: null, branch: 'other', editedElsewhere: true, time: { messages: 1 } }),
    match('c3', { time: null, branch: null, files: { paths: ['a'], when: 'before-amending' } }),
    match('c4', { time: null, branch: null, files: { paths: ['a'], when: 'in-window' } }),
    match('c5', { time: null, branch: null, files: null, tracking: { from: null, to: null } }),
  ]
  const only = ({ path }: { readonly path: string }) =>
    path === '/api/projects' ? reply({ path }) : { ...answer, items: [{ ...commit, chats }] }
  const { out } = await run(['commits'], only, world)
  const rows = out.trimEnd().split('\n')
  expect(rows.map((line) => line.split('\t')[5])).toEqual([
    'open then',
    '1 message, another branch, edited other files',
    '1 file before amending',
    '1 file',
    'code recorded then',
  ])
})

test('the program lists the commits of its working directory, with and without a daemon', async () => {
  const workplace = new Workplace()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-repo-')))
  const repository = new GitRepository(join(folder, 'shop'))
  try {
    const atMs = Date.UTC(2026, 2, 1, 12)
    const made = repository.commit({ atMs, files: { 'src/a.ts': '1' }, subject: 'Add a' })
    mkdirSync(join(repository.root, 'src', 'deep'))
    const store = workplace.cursor.global()
    const act = { name: 'edit', path: 'src/a.ts', lines: ['+1'] } as const
    const toolFormerData = toolData({ kind: 'tool', act, ending: { kind: 'completed' } }, 'new', 'call')
    const createdAt = new Date(atMs - 60_000).toISOString()
    store.message('c1', 'm1', { type: 2, text: '', capabilityType: 15, toolFormerData, createdAt })
    store.chat('c1', { name: 'An addition', createdAt: atMs - 60_000, fullConversationHeadersOnly: headers(['m1']) })
    workplace.cursor.workspace('ws', { folder: pathToFileURL(repository.root).href }, ['c1'])
    const shownSha = `${made.slice(0, 9)}\t`
    const alone = await workplace.run(['commits', '--repo', join(repository.root, 'src', 'deep')])
    expect(alone.stderr).toBe('')
    expect(alone).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(shownSha) })
    expect(alone.stdout).toContain('\thigh\tAn addition\t1 file, 1 message\tc1\n')
    const { url } = await workplace.serve()
    await untilReady(url)
    const asked = await workplace.run(['commits', '--repo', repository.root, '--json'])
    expect(JSON.parse(asked.stdout)).toMatchObject({ total: 1, items: [{ sha: made, chats: [{ id: 'c1' }] }] })
    const unknown = await workplace.run(['commits', '--repo', 'nonsense'])
    expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(repository.root) })
  } finally {
    await workplace.remove()
    rmSync(folder, { recursive: true, force: true })
  }
})
