import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Histories } from '../../src/git/histories.ts'
import { readJson } from '../helpers/cases.ts'
import { GitRepository } from '../helpers/git-repository.ts'

let repository: GitRepository
let marks: string
let renamed: string

/** A command that creates a file when it runs. */
const leave = (mark: string): string => `touch '${join(marks, mark)}' #`

/**
 * Every kind of program that a repository's config or files can name: among them a partial clone that fetches missing
 * objects from a server, which its config starts.
 */
function plantPrograms(): void {
  const places: Readonly<Record<string, string>> = { '[root]': repository.root, '[gpg]': gpgScript() }
  const config = Object.entries(readJson(import.meta.url, 'planted-config.json') as Record<string, string>).map(
    ([key, value]) =>
      [
        key,
        value
          .replace(/\{([\w-]+)\}/, (_, mark: string) => leave(mark))
          .replace(/\[\w+\]/, (place) => places[place] ?? ''),
      ] as const,
  )
  expect(config.length).toBeGreaterThan(20)
  const included = join(repository.root, '.git', 'more')
  for (const [key, value] of config) repository.git(['config', '--file', included, key, value])
  for (const [key, value] of config) repository.git(['config', key, value])
  repository.git(['config', 'include.path', included])
}

/** Git starts this program without a shell. */
function gpgScript(): string {
  const script = join(repository.root, '.git', 'gpg')
  writeFileSync(script, `#!/bin/sh\n${leave('gpg')}\n`)
  chmodSync(script, 0o755)
  return script
}

function plantHooks(): void {
  for (const folder of [join(repository.root, 'hooks'), join(repository.root, '.git', 'hooks')]) {
    mkdirSync(folder, { recursive: true })
    for (const hook of ['post-checkout', 'post-index-change', 'pre-auto-gc', 'reference-transaction', 'fsmonitor']) {
      writeFileSync(join(folder, hook), `#!/bin/sh\n${leave(`hook-${hook}`)}\n`)
      chmodSync(join(folder, hook), 0o755)
    }
  }
}

/** A commit with a signature: git checks signatures only for such commits. */
function commitSigned(): void {
  const plain = repository.git(['cat-file', 'commit', 'HEAD'])
  const signed = plain.replace(
    '\n\n',
    '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEzBAABCAAdFiEE\n -----END PGP SIGNATURE-----\n\n',
  )
  const file = join(marks, '..', 'signed')
  writeFileSync(file, `${signed}\n`)
  repository.git(['update-ref', 'HEAD', repository.git(['hash-object', '-t', 'commit', '-w', file])])
}

beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cursordex-planted-')))
  marks = join(folder, 'marks')
  mkdirSync(marks)
  repository = new GitRepository(join(folder, 'repo'))
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index}\n`)
  repository.commit({
    atMs: 1_700_000_000_000,
    files: {
      'a.txt': lines.join(''),
      '.gitattributes': '* diff=evil filter=evil merge=evil\n',
      '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n',
    },
  })
  repository.git(['mv', 'a.txt', 'b.txt'])
  renamed = repository.commit({ atMs: 1_700_000_100_000, files: { 'b.txt': [...lines, 'one more\n'].join('') } })
  repository.git(['checkout', '--quiet', '-b', 'side', 'HEAD~1'])
  repository.commit({ atMs: 1_700_000_150_000, files: { 'c.txt': 'c' } })
  repository.git(['checkout', '--quiet', 'main'])
  repository.git(['merge', '--quiet', '--no-edit', 'side'])
  commitSigned()
  plantHooks()
  plantPrograms()
})

afterEach(() => rmSync(join(marks, '..'), { recursive: true, force: true }))

/** Without this file's content, git cannot detect a rename that changed it. */
function dropBlob(): void {
  const blob = repository.git(['-c', 'core.fsmonitor=', 'rev-parse', `${renamed}:b.txt`], { GIT_PAGER: 'cat' })
  rmSync(join(repository.root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)))
}

const left = (): string[] => readdirSync(marks).sort()

async function askEverything(histories: Histories, root = repository.root): Promise<number> {
  const opened = await histories.open(root)
  const { commits } = await histories.list(opened, { sinceMs: null, alsoFrom: opened.head })
  await histories.find(opened, commits[0]?.sha.slice(0, 8) ?? '')
  const touched = await histories.touched(
    opened,
    commits.map(({ sha }) => sha),
  )
  return [...touched.values()].flatMap(({ files }) => files).length
}

// The planted commands need a shell.
test.skipIf(process.platform === 'win32')('the planted programs work: plain git runs them', () => {
  // A filter that does not answer makes git fail, so it is removed after it ran once.
  const plain = (...words: string[]) => spawnSync('git', ['-C', repository.root, ...words], { timeout: 10_000 })
  const unfiltered = ['-c', 'filter.evil.process=']
  plain('status')
  plain('show', '--no-ext-diff', 'HEAD')
  plain(...unfiltered, 'log', '-p', '--ext-diff', '--max-count=1', renamed)
  rmSync(join(repository.root, 'b.txt'))
  plain(...unfiltered, 'checkout', '--force', 'main', '--', '.')
  plain(...unfiltered, 'checkout', '--quiet', '--detach')
  dropBlob()
  plain('diff-tree', '-r', '-M', '--name-status', renamed)
  expect(left()).toEqual(expect.arrayContaining(['fsmonitor', 'gpg', 'uploadpack']))
  expect(left().join(' ')).toMatch(/textconv|external|diff-command/)
  expect(left().join(' ')).toMatch(/smudge|clean|process/)
  expect(left().join(' ')).toMatch(/hook-/)
})

test('no program that a repository names is run', async () => {
  const histories = new Histories(process.env)
  expect(await askEverything(histories)).toBeGreaterThan(4)
  expect(left()).toEqual([])
})

test('a partial clone is read without fetching missing objects', async () => {
  dropBlob()
  const histories = new Histories(process.env)
  const opened = await histories.open(repository.root)
  const touched = await histories.touched(opened, [renamed])
  expect(left()).toEqual([])
  // Without the file's content the rename is not detected, but both names are listed.
  expect(
    touched
      .get(renamed)
      ?.files.map(({ path }) => path)
      .sort(),
  ).toEqual(['a.txt', 'b.txt'])
})

test('variables for git in the environment are not passed on', async () => {
  const env = {
    ...process.env,
    GIT_DIR: join(marks, 'nowhere'),
    GIT_EXTERNAL_DIFF: leave('env-external'),
    GIT_PAGER: leave('env-pager'),
    GIT_SSH_COMMAND: leave('env-ssh'),
    GIT_TRACE: join(marks, 'trace'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: leave('env-config'),
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${leave('env-parameters')}'`,
    HOME: repository.root,
  }
  expect(await askEverything(new Histories(env))).toBeGreaterThan(4)
  expect(left()).toEqual([])
})

test('a git program inside a project is not used', async () => {
  const bin = join(repository.root, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  for (const folder of [bin, repository.root]) {
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${leave('own-git')}\n`)
    chmodSync(join(folder, 'git'), 0o755)
  }
  const PATH = [bin, '.', '', process.env['PATH']].join(delimiter)
  const before = process.cwd()
  process.chdir(repository.root)
  try {
    expect(await askEverything(new Histories({ ...process.env, PATH }))).toBeGreaterThan(4)
  } finally {
    process.chdir(before)
  }
  expect(left()).toEqual([])
})

test('a bare repository among the files of a clone is not used', async () => {
  const bare = join(repository.root, 'docs')
  spawnSync('git', ['init', '--quiet', '--bare', bare])
  spawnSync('git', ['--git-dir', bare, 'config', 'core.fsmonitor', leave('bare')])
  expect(existsSync(join(bare, 'HEAD'))).toBe(true)
  const asked = new Histories(process.env).open(bare)
  await expect(asked).rejects.toMatchObject({ code: 'not-a-repository' })
  expect(left()).toEqual([])
})
