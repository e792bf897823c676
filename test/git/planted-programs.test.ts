import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
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
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CommitWorld } from '../helpers/commit-world.ts'
import { GitRepository } from '../helpers/git-repository.ts'

let repository: GitRepository
let world: CommitWorld
let marks: string
let renamed: string

/** A command that creates a file when it runs. */
const leave = (mark: string): string => `touch '${join(marks, mark)}' #`

/** Every kind of program that a repository's config or files can name. */
function plantPrograms(): void {
  const config: Readonly<Record<string, string>> = {
    'core.fsmonitor': leave('fsmonitor'),
    'core.hooksPath': join(repository.root, 'hooks'),
    'core.pager': leave('pager'),
    'pager.log': leave('pager-log'),
    'core.editor': leave('editor'),
    'core.askPass': leave('askpass'),
    'core.sshCommand': leave('ssh'),
    'core.gitProxy': leave('proxy'),
    'core.alternateRefsCommand': leave('alternate-refs'),
    'credential.helper': `!${leave('credential')}`,
    'diff.external': leave('external'),
    'diff.evil.command': leave('diff-command'),
    'diff.evil.textconv': leave('textconv'),
    'filter.evil.clean': leave('clean'),
    'filter.evil.smudge': leave('smudge'),
    'filter.evil.process': leave('process'),
    'merge.evil.driver': leave('merge'),
    'log.showSignature': 'true',
    'log.diffMerges': 'remerge',
    'gpg.program': gpgScript(),
    'alias.log': `!${leave('alias-log')}`,
    'alias.rev-parse': `!${leave('alias-rev-parse')}`,
    'alias.diff-tree': `!${leave('alias-diff-tree')}`,
    'alias.for-each-ref': `!${leave('alias-refs')}`,
    'uploadpack.packObjectsHook': leave('pack-objects'),
    'submodule.recurse': 'true',
    'diff.submodule': 'log',
    'submodule.sub.update': `!${leave('submodule')}`,
    'maintenance.auto': 'true',
    // A partial clone that fetches missing objects from a server, which its config starts.
    'core.repositoryformatversion': '1',
    'extensions.partialClone': 'origin',
    'remote.origin.url': repository.root,
    'remote.origin.promisor': 'true',
    'remote.origin.uploadpack': leave('uploadpack'),
  }
  const text = Object.entries(config).map(([key, value]) => {
    const [section = '', ...rest] = key.split('.')
    const [name, label] = [rest.pop(), rest.join('.')]
    return `[${section}${label === '' ? '' : ` "${label}"`}]\n\t${name} = "${value}"\n`
  })
  const included = join(repository.root, '.git', 'more')
  writeFileSync(included, text.join(''))
  appendFileSync(join(repository.root, '.git', 'config'), [...text, `[include]\n\tpath = ${included}\n`].join(''))
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

beforeEach(async () => {
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
  world = await CommitWorld.open()
  const edits = [{ id: 'c1', project: 'shop', acts: [{ atMs: 1_700_000_050_000, edits: 'b.txt' }] }]
  const [shop, bare] = [repository.root, join(repository.root, 'docs')].map((root) => pathToFileURL(root).href) as [
    string,
    string,
  ]
  await world.index({ shop, bare }, [...edits, { id: 'c2', project: 'bare', acts: [{ atMs: 1_600_000_000_000 }] }])
  plantPrograms()
})

afterEach(async () => {
  await world.remove()
  rmSync(join(marks, '..'), { recursive: true, force: true })
})

/** Without this file's content, git cannot detect a rename that changed it. */
function dropBlob(): void {
  const blob = repository.git(['-c', 'core.fsmonitor=', 'rev-parse', `${renamed}:b.txt`], { GIT_PAGER: 'cat' })
  rmSync(join(repository.root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)))
}

const left = (): string[] => readdirSync(marks).sort()

/** Asks for all commits, and for the chats of one. @returns how many commits there are */
async function askEverything(): Promise<number> {
  const repo = repository.root
  const { items } = await world.commits({ repo })
  const ofCommit = await world.ask(`/api/chats?commit=${renamed}&repo=${encodeURIComponent(repo)}`)
  expect(await ofCommit.json()).toMatchObject({ items: [{ id: 'c1', commit: { confidence: 'high' } }] })
  return items.length
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
  plain(...unfiltered, 'add', '--renormalize', '.')
  plain(...unfiltered, 'checkout', '--quiet', '--detach')
  dropBlob()
  plain('diff-tree', '-r', '-M', '--name-status', renamed)
  expect(left()).toEqual(expect.arrayContaining(['fsmonitor', 'gpg', 'uploadpack']))
  expect(left().join(' ')).toMatch(/textconv|external|diff-command/)
  expect(left().join(' ')).toMatch(/smudge|clean|process/)
  expect(left().join(' ')).toMatch(/hook-/)
})

test('no program that a repository names is run', async () => {
  expect(await askEverything()).toBe(4)
  expect(left()).toEqual([])
})

test('a partial clone is read without fetching missing objects', async () => {
  dropBlob()
  const { items } = await world.commits({ repo: repository.root })
  expect(left()).toEqual([])
  const files = { paths: ['b.txt'] }
  expect(items.find(({ sha }) => sha === renamed)).toMatchObject({
    chats: [{ confidence: 'high', evidence: { files } }],
  })
})

/** Asks with other variables in the environment of the program. */
async function askWith(env: Readonly<Record<string, string>>): Promise<number> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  try {
    return await askEverything()
  } finally {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

test('variables for git in the environment are not passed on', async () => {
  const env = {
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
  expect(await askWith(env)).toBe(4)
  expect(left()).toEqual([])
})

test('a git program inside a project is not used', async () => {
  const bin = join(repository.root, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  for (const folder of [bin, repository.root]) {
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${leave('own-git')}\n`)
    chmodSync(join(folder, 'git'), 0o755)
  }
  const before = process.cwd()
  process.chdir(repository.root)
  try {
    expect(await askWith({ PATH: [bin, '.', '', process.env['PATH']].join(delimiter) })).toBe(4)
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
  const answer = await world.ask(`/api/commits?repo=${encodeURIComponent(bare)}`)
  expect(await answer.json()).toMatchObject({ status: 409, code: 'not-a-repository' })
  expect(left()).toEqual([])
})
