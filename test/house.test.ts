import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { allPaths } from '../src/api/http/app.ts'
import { run } from './cli/fake-world.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Manifest {
  readonly version: string
  readonly license: string
  readonly bin: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly engines: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
}

interface Locked extends Partial<Manifest> {
  readonly resolved?: string
  readonly integrity?: string
  readonly inBundle?: true
  readonly hasInstallScript?: true
}

const manifest = JSON.parse(read('package.json')) as Manifest
const lock = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> }

test('the lockfile pins better-sqlite3 12.11.1', () => {
  expect(manifest.dependencies['better-sqlite3']).toBe('^12.11.1 || ^13.2.0')
  const installed = Object.entries(lock.packages).filter(([path]) => path.endsWith('node_modules/better-sqlite3'))
  expect(installed.map(([path, { version }]) => [path, version])).toEqual([['node_modules/better-sqlite3', '12.11.1']])
})

test('the lockfile has the newer build for the versions of Node that crash with 12, and npm leaves it out on Node 20', () => {
  expect(manifest.optionalDependencies).toEqual({ 'better-sqlite3-napi': 'npm:better-sqlite3@^13.2.0' })
  const newer = lock.packages['node_modules/better-sqlite3-napi']
  expect(newer).toMatchObject({ name: 'better-sqlite3', optional: true, engines: { node: '>=22' } })
  expect(newer?.version).toMatch(/^13\./)
  expect(newer?.hasInstallScript).toBeUndefined()
})

test('the lockfile matches package.json', () => {
  const { dependencies, devDependencies, optionalDependencies, engines, license, version } = manifest
  const expected = { dependencies, devDependencies, optionalDependencies, engines, license, version }
  expect(lock.packages['']).toMatchObject(expected)
})

test('the lockfile records checksums of all packages, and no registry address', () => {
  expect(read('.npmrc').split(/\r?\n/)).toContain('omit-lockfile-registry-resolved=true')
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')
  expect(packages.length).toBeGreaterThan(100)
  expect(packages.flatMap(([path, { resolved }]) => (resolved === undefined ? [] : path))).toEqual([])
  const unchecked = packages.filter(([, { integrity, inBundle }]) => integrity === undefined && inBundle !== true)
  expect(unchecked.map(([path]) => path)).toEqual([])
  expect(read('package-lock.json')).not.toMatch(/https?:\/\/[^"]*\.tgz/)
})

test('the engines are the versions of Node that the SQLite addon supports', () => {
  expect(manifest.engines).toEqual({ node: '^20.19.0 || ^22.14.0 || >=24.0.0' })
})

test('only the SQLite addon may run an install script', () => {
  const allowed = Object.entries(manifest.allowScripts).filter(([, isAllowed]) => isAllowed)
  expect(allowed).toEqual([['better-sqlite3', true]])
  const withScript = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  const names = withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
  expect(names.filter((name) => manifest.allowScripts[name] === undefined)).toEqual([])
})

test('the licence is MIT', () => {
  expect(manifest.license).toBe('MIT')
  expect(read('LICENSE')).toMatch(/^MIT License\n[^]*Permission is hereby granted, free of charge/)
})

/** The names that a text does not contain as whole words. A longer name with the same beginning does not count. */
function missingFrom(text: string, names: readonly string[]): string[] {
  const quoted = (name: string) => name.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
  return names.filter((name) => !new RegExp(`(?<![\\w-])${quoted(name)}(?![\\w/:-]|\\.\\w)`).test(text))
}

test('a name is missing if only longer names occur', () => {
  const text = '`cursordex chats`, `GET /api/chats/:id/messages`, `--host-name`, CURSORDEX_DATA_DIR, `log.level.x`'
  expect(missingFrom(text, ['cursordex chats', 'CURSORDEX_DATA_DIR'])).toEqual([])
  const absent = ['cursordex chat', 'GET /api/chats/:id', 'GET /api/chats', '--host', 'CURSORDEX_DATA', 'log.level']
  expect(missingFrom(text, absent)).toEqual(absent)
})

/** All commands and subcommands as they are typed. */
async function commandsBelow(words: readonly string[]): Promise<string[]> {
  const { out } = await run([...words, '--help'])
  const [, list = ''] = /^Commands:\n((?: .*\n)+)/m.exec(out) ?? []
  const names = [...list.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help')
  const below = await Promise.all(names.map((name) => commandsBelow([...words, name])))
  return names.flatMap((name, index) => [['cursordex', ...words, name].join(' '), ...(below[index] ?? [])])
}

test('docs/cli.md names every command', async () => {
  const commands = await commandsBelow([])
  expect(commands).toEqual(expect.arrayContaining(['cursordex serve', 'cursordex search', 'cursordex sync']))
  // Its table has commands without the program's name.
  const inTable = read('docs/cli.md').replace(/^\| `(?=[a-z])/gm, '| `cursordex ')
  expect(missingFrom(inTable, commands)).toEqual([])
})

test('docs/settings.md names every flag for a setting', async () => {
  const { out } = await run(['--help'])
  const flags = [...out.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag ?? '')
  expect(flags).toEqual(expect.arrayContaining(['--cursor-user-dir', '--port', '--auth']))
  const others = new Set(['--help', '--version'])
  expect(
    missingFrom(
      read('docs/settings.md'),
      flags.filter((flag) => !others.has(flag)),
    ),
  ).toEqual([])
})

test('docs/http.md names every route', () => {
  // A table may have the method and the path in separate cells.
  const text = read('docs/http.md').replace(/(GET|POST)`?\s*\|\s*`?\//g, '$1 /')
  const routes = allPaths.map(({ method, path }) => `${method} ${path}`)
  expect(routes.length).toBeGreaterThan(8)
  expect(missingFrom(text, routes)).toEqual([])
})

test('docs/settings.md names every environment variable', () => {
  const files = readdirSync(join(root, 'src/settings')).map((name) => read(`src/settings/${name}`))
  const variables = [...new Set(files.join('\n').match(/\bCURSORDEX_[A-Z][A-Z_]*[A-Z]\b/g))]
  expect(variables).toEqual(expect.arrayContaining(['CURSORDEX_CURSOR_USER_DIRS', 'CURSORDEX_CONFIG']))
  expect(missingFrom(read('docs/settings.md'), variables)).toEqual([])
})

/**
 * All keys of the settings in dotted form. `[]` means the entries of a list: `archives.jobs[].keep.daily`. The shipped
 * defaults have every key, else no settings can be loaded.
 */
const knownKeys = keysBelow(JSON.parse(read('config/default.json')), '')

function keysBelow(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => keysBelow(entry, `${name}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, below]) => {
    const full = name === '' ? key : `${name}.${key}`
    return [full, ...keysBelow(below, full)]
  })
}

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly additionalProperties?: boolean
}

/** A part of the JSON schema and all parts below it, by their keys. */
function described(part: Described, name: string): [string, Described][] {
  const items = part.items === undefined ? [] : described(part.items, `${name}[]`)
  const keys = Object.entries(part.properties ?? {}).flatMap(([key, below]) =>
    described(below, name === '' ? key : `${name}.${key}`),
  )
  return [[name, part], ...keys, ...items]
}

test('the JSON schema describes exactly the keys of the settings, and rejects unknown keys wherever they do', () => {
  const parts = described(JSON.parse(read('config/schema.json')) as Described, '')
  const keys = parts.filter(([name]) => name !== '' && !name.endsWith('[]'))
  expect(keys.map(([key]) => key).sort()).toEqual(knownKeys.toSorted())
  expect(keys.filter(([, { description }]) => !/^[A-Z].*\.$/s.test(description ?? ''))).toEqual([])
  const groups = parts.filter(([, { properties }]) => properties !== undefined)
  expect(groups.filter(([, group]) => group.additionalProperties !== false)).toEqual([])
})

test('docs/settings.md names every setting', () => {
  const keys = knownKeys.filter((key) => key !== '$schema')
  const values = keys.filter(
    (key) => !keys.some((other) => other.startsWith(`${key}.`) || other.startsWith(`${key}[]`)),
  )
  const ofJobs = values.filter((key) => key.includes('[].'))
  const plain = values.filter((key) => !ofJobs.includes(key))
  expect(plain).toEqual(expect.arrayContaining(['dataDir', 'http.port', 'sources.composer-kv.enabled']))
  const text = read('docs/settings.md')
  expect(missingFrom(text, plain)).toEqual([])
  // The keys of a job are described next to `archives.jobs`.
  const paragraphs = text.split(/\n\n|\|\n/).filter((each) => each.includes('archives.jobs'))
  expect(ofJobs).toContain('archives.jobs[].keep.daily')
  const names = [...new Set(ofJobs.flatMap((key) => key.slice(key.indexOf('[].') + 3).split('.')))]
  expect(missingFrom(paragraphs.join('\n').replace(/:/g, ' '), names)).toEqual([])
})

test('every link in the documents leads to a file', () => {
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
  ]
  const broken = documents
    .filter((document) => document.endsWith('.md'))
    .flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, link = '']) => join(dirname(join(root, document)), link))
        .filter((path) => !existsSync(path))
        .map((path) => `${document}: ${path}`),
    )
  expect(broken).toEqual([])
})

test('every file and folder that the papers for engineers name is there', () => {
  const files = ownFiles()
  const papers = files.filter((path) => /^(?:ARCHITECTURE|CONTRIBUTING|src\/.*README)\.md$/.test(path))
  expect(papers.length).toBeGreaterThan(5)
  const isThere = (name: string, paper: string): boolean =>
    name.includes('<') ||
    existsSync(join(root, name)) ||
    existsSync(join(root, dirname(paper), name)) ||
    (!/^(?:src|test)\//.test(name) && files.some((path) => `/${path}`.endsWith(`/${name}`)))
  const missing = papers.flatMap((paper) =>
    [...read(paper).matchAll(/`((?:src|test)\/[^`\s]*|[\w./-]+\.(?:ts|mjs))`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !isThere(name, paper))
      .map((name) => `${paper}: ${name}`),
  )
  expect(missing).toEqual([])
})

/** The files of the checkout that are not ignored. Found without git, because a downloaded archive has none. */
function ownFiles(folder = root): string[] {
  const ignored = read('.gitignore')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'))
  const isIgnored = (name: string) =>
    name === '.git' ||
    ignored.some((rule) => (rule.startsWith('*') ? name.endsWith(rule.slice(1)) : rule === `${name}/`))
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (isIgnored(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ownFiles(path)
    return entry.isFile() ? [relative(root, path).split(sep).join('/')] : []
  })
}

/** Names of people in examples. */
const examples = /^(\w|ada|eve|grace|alice|bob|me|you|user|name|[<$%{].*)$/i

/** Traces of the machine on which a text was written: a home folder, or the address of a registry. */
function tracesIn(text: string): string[] {
  const homes = [...text.matchAll(/(?:\/home|\/Users|[A-Z]:[\\/]{1,4}Users)[\\/]{1,4}([^\\/\s'"`)\]}>,:;|=]+)/g)]
  const people = homes.filter(([, name]) => !examples.test(name ?? '')).map(([trace]) => trace)
  return [...people, ...(text.match(/\bregistry\.[a-z][\w-]*\.[a-z]+\b|\/root\/[\w.]+/g) ?? [])]
}

test('no file contains traces of the machine on which it was written', () => {
  const files = ownFiles()
  expect(files).toEqual(expect.arrayContaining(['package.json', 'src/daemon/main.ts', 'test/house.test.ts', '.ci/run']))
  expect(files.filter((path) => path.startsWith('node_modules/') || path.startsWith('dist/'))).toEqual([])
  expect(files.flatMap((path) => tracesIn(read(path)).map((trace) => `${path}: ${trace}`))).toEqual([])
})

test('a trace is found, and an example is none', () => {
  // Assembled here, so that this file does not contain a trace itself.
  const traces = [
    ['', 'home', 'jsmith', 'code'].join('/'),
    ['C:', 'Users', 'jsmith', 'code'].join('\\'),
    ['', 'root', 'code'].join('/'),
    ['https://registry', 'npmjs', 'org/zod'].join('.'),
  ]
  for (const trace of traces) expect(tracesIn(`It lay in "${trace}/x".`)).toHaveLength(1)
  for (const example of ['/home/ada/shop', String.raw`C:\Users\a\AppData`, '/home/<name>/shop', '~/shop']) {
    expect([example, tracesIn(`It lay in "${example}/x".`)]).toEqual([example, []])
  }
})

test('every script that package.json names exists', () => {
  const named = Object.values(manifest.scripts).flatMap((script) => script.match(/\bscripts\/[\w.-]+/g) ?? [])
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})
