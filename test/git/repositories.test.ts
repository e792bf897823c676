import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CommitWorld } from '../helpers/commit-world.ts'
import { GitRepository } from '../helpers/git-repository.ts'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const AT_MS = Date.UTC(2026, 2, 1, 12)

let repository: GitRepository
let world: CommitWorld
let folder: string
beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-repositories-')))
  repository = new GitRepository(join(folder, 'shop'))
  world = await CommitWorld.open()
})
afterEach(async () => {
  await world.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Makes the folders known as projects, each with a chat that edited these files just before noon. */
async function know(roots: readonly string[], edits: readonly string[] = ['a']): Promise<void> {
  const acts = edits.map((path) => ({ atMs: AT_MS - 60_000, edits: path }))
  const projects = Object.fromEntries(roots.map((root, index) => [`p${index}`, pathToFileURL(root).href]))
  await world.index(
    projects,
    roots.map((_, index) => ({ id: `c${index}`, project: `p${index}`, acts })),
  )
}

const listed = async (repo: string, query: Readonly<Record<string, string>> = {}) => {
  const { items } = await world.commits({ repo, ...query })
  return { shas: items.map(({ sha }) => sha), items }
}

/** The answer, also if it is an error. */
async function answerOf(root: string) {
  const answer = await world.ask(`/api/commits?repo=${encodeURIComponent(root)}`)
  return (await answer.json()) as { readonly code?: string; readonly detail?: string }
}

const codeOf = async (root: string): Promise<unknown> => (await answerOf(root)).code

test('a commit is shown with its times and subject, and odd names of files fit', async () => {
  const files = { 'new\nline.txt': '2', 'ä b/ü.txt': '1' }
  const plan = { atMs: AT_MS, committedAtMs: AT_MS + 60_000, zone: '-0930', subject: 'A\ttitle\n\nand more', files }
  const sha = repository.commit(plan)
  await know([repository.root], Object.keys(files))
  const { items } = await listed(repository.root)
  expect(items).toMatchObject([
    {
      sha,
      committedAt: '2026-03-01T12:01:00.000Z',
      subject: 'A\ttitle',
      chats: [{ confidence: 'high', evidence: { files: { paths: ['new\nline.txt', 'ä b/ü.txt'] } } }],
    },
  ])
})

test('commits of all branches and of a detached head are listed, whatever an earlier clock said', async () => {
  const first = repository.commit({ atMs: AT_MS, files: { a: '1' } })
  repository.git(['checkout', '--quiet', '-b', 'feature/x'])
  const side = repository.commit({ atMs: Date.UTC(2001, 0), files: { a: '2' } })
  const after = repository.commit({ atMs: AT_MS + 1000, files: { a: '3' } })
  repository.git(['checkout', '--quiet', '--detach', 'main'])
  const detached = repository.commit({ atMs: AT_MS + 2000, files: { a: '4' } })
  repository.git(['tag', 'elsewhere', repository.git(['commit-tree', '-m', 'on no branch', 'HEAD^{tree}'])])
  await know([repository.root])
  expect((await listed(repository.root)).shas.sort()).toEqual([first, side, after, detached].sort())
  const recent = await listed(repository.root, { from: new Date(AT_MS).toISOString() })
  expect(recent.shas.sort()).toEqual([first, after, detached].sort())
})

test('a repository without a commit has no history, and one with invalid times has no times', async () => {
  const empty = new GitRepository(join(folder, 'empty'))
  repository.commit({ atMs: AT_MS })
  const made = repository.git(['cat-file', 'commit', 'HEAD']).replace(/> \d+ /g, '> 99999999999999999 ')
  const file = join(repository.root, '.git', 'made')
  writeFileSync(file, `${made}\n`)
  const sha = repository.git(['hash-object', '-t', 'commit', '-w', '--literally', file])
  repository.git(['update-ref', 'refs/heads/main', sha])
  await know([empty.root, repository.root])
  expect((await listed(empty.root)).shas).toEqual([])
  expect((await listed(repository.root)).items).toMatchObject([{ sha, committedAt: null, chats: [] }])
})

test('a linked worktree and a link are read', async () => {
  repository.commit({ atMs: AT_MS - 120_000, files: { a: '1' } })
  repository.commit({ atMs: AT_MS, files: { b: '2', 'inner/b': '2' } })
  const [tree, link, inner] = ['tree', 'link', 'inner'].map((name) => join(folder, name)) as [string, string, string]
  repository.git(['worktree', 'add', '--quiet', tree, '-b', 'side'])
  symlinkSync(repository.root, link)
  symlinkSync(join(repository.root, 'inner'), inner)
  await know([tree, link, inner], ['b'])
  expect((await listed(tree)).shas).toHaveLength(2)
  expect((await listed(link)).items[0]?.chats).toMatchObject([{ id: 'c1', confidence: 'high' }])
  expect((await listed(inner)).items[0]?.chats).toMatchObject([{ id: 'c2', confidence: 'high' }])
})

test('a branch with a name of hex digits is no commit', async () => {
  const sha = repository.commit({ atMs: AT_MS, files: { a: '1' } })
  const name = sha.startsWith('beef') ? 'feed' : 'beef'
  repository.git(['branch', name])
  await know([repository.root])
  const answer = await world.ask(`/api/chats?commit=${name}&repo=${encodeURIComponent(repository.root)}`)
  expect(answer.status).toBe(404)
})

test('a folder without a repository and a damaged one give different errors', async () => {
  const plain = join(folder, 'plain')
  const damaged = new GitRepository(join(folder, 'damaged'))
  const sha = damaged.commit({ atMs: AT_MS, files: { a: '1' } })
  mkdirSync(plain)
  await know([plain, damaged.root])
  rmSync(join(damaged.root, '.git', 'objects', sha.slice(0, 2)), { recursive: true })
  mkdirSync(join(damaged.root, '.git', 'objects', sha.slice(0, 2)))
  expect(await codeOf(plain)).toBe('not-a-repository')
  expect(await codeOf(damaged.root)).toBe('git-failed')
})

// Only root can change the owner of a folder.
test.skipIf(process.getuid?.() !== 0)('a repository of another user is not read', async () => {
  repository.commit({ atMs: AT_MS })
  await know([repository.root])
  execFileSync('chown', ['-R', '12345', repository.root])
  expect(await codeOf(repository.root)).toBe('git-failed')
})

test('a repository that makes git hang ends after ten seconds with an error', async () => {
  execFileSync('mkfifo', [join(repository.root, '.git', 'fifo')])
  repository.git(['config', 'include.path', join(repository.root, '.git', 'fifo')])
  await know([repository.root])
  expect(await codeOf(repository.root)).toBe('git-slow')
})

/** A commit of a tree with ten entries, each of which is a tree with ten entries, and so on: ten billion files. */
function bombOfTrees(): void {
  const entries = (kind: string, sha: string): string => {
    const list = Array.from({ length: 10 }, (_, at) => `${kind} ${sha}\tentry-${at}\n`).join('')
    return repository.git(['mktree'], {}, list)
  }
  let sha = entries('100644 blob', repository.git(['hash-object', '-w', '--stdin'], {}, 'leaf'))
  for (let level = 1; level < 10; level += 1) sha = entries('040000 tree', sha)
  const env = { GIT_AUTHOR_DATE: `@${AT_MS / 1000} +0000`, GIT_COMMITTER_DATE: `@${AT_MS / 1000} +0000` }
  repository.git(['update-ref', 'refs/heads/main', repository.git(['commit-tree', '-m', 'bomb', sha], env)])
}

/** A commit whose message has 400 MB, in a file of 2 MB. */
function bombOfOneMessage(): void {
  repository.commit({ atMs: AT_MS })
  const made = Buffer.from(`${repository.git(['cat-file', 'commit', 'HEAD'])}\n`)
  const body = Buffer.concat([made, Buffer.alloc(400_000_000, 'a')])
  const object = Buffer.concat([Buffer.from(`commit ${body.length}\0`), body])
  const sha = createHash('sha1').update(object).digest('hex')
  repository.write(`.git/objects/${sha.slice(0, 2)}/${sha.slice(2)}`, deflateSync(object, { level: 1 }))
  repository.git(['update-ref', 'refs/heads/main', sha])
}

// Only Linux limits the memory of git.
test.skipIf(process.platform !== 'linux').each([
  ['ten billion files', bombOfTrees],
  ['a message of 400 MB', bombOfOneMessage],
])('a repository with %s gets little memory, and is not asked again for an hour', async (_, plant) => {
  plant()
  await world.remove()
  vi.useFakeTimers({ toFake: ['Date'], now: AT_MS })
  try {
    world = await CommitWorld.open()
    await know([repository.root])
    const detail = `Git needs more than 256 MB of memory to read the repository at ${repository.root}. It is not asked again before 2026-03-01T13:00:00.000Z. Ask for less, or later.`
    expect(await answerOf(repository.root)).toMatchObject({ code: 'git-failed', detail })
    repository.git(['update-ref', 'refs/heads/main', repository.git(['commit-tree', '-m', 'good', EMPTY_TREE])])
    expect(await answerOf(repository.root)).toMatchObject({ code: 'git-failed', detail })
    vi.setSystemTime(AT_MS + 3_600_000)
    expect((await listed(repository.root)).items).toMatchObject([{ subject: 'good' }])
  } finally {
    vi.useRealTimers()
  }
})

test('a git that is missing, cannot be started or prints without an end gives an error', async () => {
  await know([repository.root])
  const before = process.env['PATH']
  const program = join(folder, 'git')
  try {
    process.env['PATH'] = folder
    expect(await codeOf(repository.root)).toBe('git-missing')
    for (const script of ['#!/nonexistent/interpreter\n', '#!/bin/sh\nwhile :; do printf %1000000s; done\n']) {
      writeFileSync(program, script, { mode: 0o755 })
      expect(await codeOf(repository.root)).toBe('git-failed')
    }
  } finally {
    process.env['PATH'] = before
  }
})
