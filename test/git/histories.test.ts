import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Histories } from '../../src/git/histories.ts'
import { normaliseRemote } from '../../src/hub/meet.ts'
import { casesBeside } from '../helpers/cases.ts'
import { GitRepository } from '../helpers/git-repository.ts'

const cases = casesBeside(import.meta.url)

const whole = { sinceMs: null, alsoFrom: null }
const AT_MS = Date.UTC(2026, 2, 1, 12)

let repository: GitRepository
let histories: Histories
beforeEach(() => {
  repository = new GitRepository()
  histories = new Histories(process.env)
})
afterEach(() => {
  histories.close()
  repository.remove()
})

test('a commit is returned with its times, parents and files', async () => {
  const first = repository.commit({ atMs: AT_MS, files: { 'ä b/ü.txt': '1', 'x.txt': 'x\n'.repeat(30) } })
  repository.git(['mv', 'x.txt', 'y.txt'])
  const second = repository.commit({
    atMs: AT_MS + 1000,
    committedAtMs: AT_MS + 60_000,
    zone: '-0930',
    subject: 'A\ttitle\n\nand more',
    files: { 'new\nline.txt': '2', 'ä b/ü.txt': null },
  })
  const opened = await histories.open(repository.root)
  const { commits, isWhole, within } = await histories.list(opened, whole)
  expect(isWhole).toBe(true)
  expect(within).toBeNull()
  expect(commits[0]).toEqual({
    sha: second,
    parents: [first],
    authoredAtMs: AT_MS + 1000,
    committedAtMs: AT_MS + 60_000,
    author: 'Ada',
    subject: 'A\ttitle',
  })
  const touched = await histories.touched(opened, [first, second])
  expect(touched.get(first)?.files.map(({ path }) => path)).toEqual(['x.txt', 'ä b/ü.txt'])
  expect(touched.get(second)?.files).toEqual([
    { path: 'new\nline.txt', formerPath: null },
    { path: 'y.txt', formerPath: 'x.txt' },
    { path: 'ä b/ü.txt', formerPath: null },
  ])
})

test('the files of a merge are those changed in the merge itself', async () => {
  repository.commit({ atMs: AT_MS, files: { a: '1\n', b: '1\n' } })
  repository.git(['checkout', '--quiet', '-b', 'side'])
  repository.commit({ atMs: AT_MS + 1000, files: { a: '2\n', b: '2\n' } })
  repository.git(['checkout', '--quiet', 'main'])
  repository.commit({ atMs: AT_MS + 2000, files: { a: '3\n' } })
  expect(() => repository.git(['merge', '--quiet', 'side'])).toThrow('merge')
  const merge = repository.commit({ atMs: AT_MS + 3000, files: { a: '4\n' } })
  const opened = await histories.open(repository.root)
  const { commits } = await histories.list(opened, whole)
  expect(commits.find(({ sha }) => sha === merge)?.parents).toHaveLength(2)
  expect((await histories.touched(opened, [merge])).get(merge)?.files).toEqual([{ path: 'a', formerPath: null }])
})

test('commits of all branches and of a detached head are listed', async () => {
  repository.commit({ atMs: AT_MS, files: { a: '1' } })
  repository.git(['checkout', '--quiet', '-b', 'feature/x'])
  const side = repository.commit({ atMs: AT_MS + 1000, files: { a: '2' } })
  repository.git(['checkout', '--quiet', '--detach', 'main'])
  const detached = repository.commit({ atMs: AT_MS + 2000, files: { a: '3' } })
  const opened = await histories.open(repository.root)
  expect([...opened.branches.keys()].sort()).toEqual(['feature/x', 'main'])
  const { commits } = await histories.list(opened, whole)
  expect(commits.map(({ sha }) => sha)).toEqual(expect.arrayContaining([side, detached]))
  expect(commits).toHaveLength(3)
  const recent = await histories.list(opened, { ...whole, sinceMs: AT_MS + 2000 })
  expect(recent.commits.map(({ sha }) => sha)).toEqual([detached])
})

test('a commit with a wrong old date does not hide earlier commits of the period', async () => {
  const first = repository.commit({ atMs: AT_MS, files: { a: '1' } })
  repository.commit({ atMs: Date.UTC(2001, 0), files: { a: '2' } })
  const opened = await histories.open(repository.root)
  const recent = await histories.list(opened, { ...whole, sinceMs: AT_MS })
  expect(recent.commits.map(({ sha }) => sha)).toEqual([first])
  expect(recent.isWhole).toBe(true)
})

test('for a folder inside a repository, the commits that changed something below it are marked', async () => {
  const first = repository.commit({ atMs: AT_MS, files: { 'packages/app/a': '1', 'packages/other': '1' } })
  repository.commit({ atMs: AT_MS + 1000, files: { 'packages/other': '2' } })
  const third = repository.commit({ atMs: AT_MS + 2000, files: { 'packages/app/a': '2' } })
  repository.git(['checkout', '--quiet', '-b', 'side', first])
  repository.commit({ atMs: AT_MS + 3000, files: { 'packages/other': '3' } })
  repository.git(['merge', '--quiet', '--strategy=ours', '--message=a merge that adds nothing', third])
  const opened = await histories.open(join(repository.root, 'packages', 'app'))
  expect(opened).toMatchObject({ topLevel: repository.root, prefix: 'packages/app/' })
  const { commits, within } = await histories.list(opened, whole)
  expect(commits).toHaveLength(5)
  expect([...(within ?? [])].sort()).toEqual([first, third].sort())
})

test('a commit is found by its first digits, and only by digits', async () => {
  const sha = repository.commit({ atMs: AT_MS })
  const opened = await histories.open(repository.root)
  expect(await histories.find(opened, sha.slice(0, 7))).toMatchObject({ sha })
  expect(await histories.find(opened, sha)).toMatchObject({ sha })
  expect(await histories.find(opened, sha.startsWith('0000') ? 'ffff' : '0000')).toBeNull()
  for (const odd of ['HEAD', '--all', 'main', 'ABCD', '', 'abc', `${sha} --output=x`]) {
    await expect(histories.find(opened, odd)).rejects.toThrow('not the sha')
    await expect(histories.touched(opened, [odd])).rejects.toThrow('not the sha')
  }
})

test('a repository without a commit has no history', async () => {
  const opened = await histories.open(repository.root)
  expect(opened.head).toBeNull()
  expect(await histories.list(opened, whole)).toEqual({ commits: [], within: null, isWhole: true })
})

test('a commit with invalid times is returned without times', async () => {
  repository.commit({ atMs: AT_MS })
  const made = repository.git(['cat-file', 'commit', 'HEAD']).replace(/> \d+ /g, '> 99999999999999999 ')
  const file = join(repository.root, '.git', 'made')
  writeFileSync(file, `${made}\n`)
  const sha = repository.git(['hash-object', '-t', 'commit', '-w', '--literally', file])
  const opened = await histories.open(repository.root)
  const found = await histories.find(opened, sha)
  expect(found).toMatchObject({ sha, authoredAtMs: null, committedAtMs: null })
})

test('a linked worktree and a shallow clone are read as far as possible', async () => {
  repository.commit({ atMs: AT_MS, files: { a: '1' } })
  const last = repository.commit({ atMs: AT_MS + 1000, files: { a: '2' } })
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-repo-')))
  try {
    repository.git(['worktree', 'add', '--quiet', join(folder, 'tree'), '-b', 'side'])
    const tree = await histories.open(join(folder, 'tree'))
    expect((await histories.list(tree, whole)).commits).toHaveLength(2)
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${repository.root}`, join(folder, 'shallow')])
    const shallow = await histories.open(join(folder, 'shallow'))
    const { commits } = await histories.list(shallow, whole)
    expect(commits.map(({ sha }) => sha)).toEqual([last])
    // Git shows this commit as if it had added all files.
    expect((await histories.touched(shallow, [last])).has(last)).toBe(false)
    symlinkSync(repository.root, join(folder, 'link'))
    expect(await histories.open(join(folder, 'link'))).toMatchObject({ topLevel: repository.root, prefix: '' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a folder without a repository, a missing folder and a missing git give different errors', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-plain-')))
  try {
    const code = (error: unknown) => (error as { readonly code?: string }).code
    const askedOf = (root: string, env = process.env) => new Histories(env).open(root).then(() => 'opened', code)
    expect(await askedOf(folder)).toBe('not-a-repository')
    expect(await askedOf(join(folder, 'gone'))).toBe('repo-missing')
    expect(await askedOf(join(repository.root, '.git'))).toBe('not-a-repository')
    expect(await askedOf(repository.root, { PATH: folder })).toBe('git-missing')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a repository that makes git hang times out, and no process stays', async () => {
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(repository.root, '.git', 'fifo')])
  repository.git(['config', 'include.path', join(repository.root, '.git', 'fifo')])
  await expect(new Histories(process.env, 400).open(repository.root)).rejects.toMatchObject({ code: 'git-slow' })
  const isHolding = (pid: string) => readOrNothing(`/proc/${pid}/cmdline`).includes(repository.root)
  const left = existsSync('/proc') ? readdirSync('/proc').filter(isHolding) : []
  expect(left).toEqual([])
})

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process is gone, or has just ended.
    return ''
  }
}

// Only root can change the owner of a folder.
test.skipIf(process.getuid?.() !== 0)('a repository of another user is not read, and the error says so', async () => {
  repository.commit({ atMs: AT_MS })
  execFileSync('chown', ['-R', '12345', repository.root])
  await expect(histories.open(repository.root)).rejects.toMatchObject({ code: 'repo-foreign' })
})

test('a damaged repository gives an error of one sentence', async () => {
  const sha = repository.commit({ atMs: AT_MS, files: { a: '1' } })
  const opened = await histories.open(repository.root)
  rmSync(join(repository.root, '.git', 'objects', sha.slice(0, 2)), { recursive: true })
  mkdirSync(join(repository.root, '.git', 'objects', sha.slice(0, 2)))
  await expect(histories.list(opened, whole)).rejects.toMatchObject({ code: 'git-failed' })
})

test.each(cases<[string, string | null]>('remotes'))('the remote %s is %j', (url, name) => {
  expect(normaliseRemote(url)).toBe(name)
})
