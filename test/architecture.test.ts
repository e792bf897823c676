import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as rules from './helpers/architecture-rules.ts'
import { parseFile, type Parsed, type Rule } from './helpers/architecture-rules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function filesBelow(folder: string): Parsed[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return paths.map((path) =>
    parseFile({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }),
  )
}

const src = filesBelow('src')
/** What runs in Node. */
const server = src.filter(({ path }) => !path.startsWith('src/web/'))
const page = src.filter(({ path }) => path.startsWith('src/web/'))
const config = filesBelow('config')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
// Most packages are bundled, so they are development dependencies.
const packages = rules.packages(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))

test('the rules see the whole of src', () => {
  const rooms = new Set(src.map(({ path }) => path.split('/')[1]))
  expect([...rooms]).toEqual(
    expect.arrayContaining(['api', 'cli', 'daemon', 'engine', 'indexer', 'mirror', 'model', 'text']),
  )
  expect(src.length).toBeGreaterThan(150)
  const targets = src.flatMap(({ imports }) => imports.flatMap(({ target }) => target ?? []))
  expect(targets.length).toBeGreaterThan(400)
  const known = new Set([...src, ...config, ...filesBelow('docs')].map(({ path }) => path))
  // Both are found from the program's own place, beside `src` and `dist`.
  const beside = new Set(['package.json', 'dist/web/'])
  expect(targets.filter((target) => !known.has(target) && !beside.has(target))).toEqual([])
})

test.each<[claim: string, rule: Rule, files: readonly Parsed[]]>([
  ['every room imports only the rooms below it, and no adapter another', rules.layers, src],
  ["Cursor's words stay inside the adapters", rules.words, [...src, ...config]],
  ['SQL stands in the mirror, the queries, the search and the readers of the adapters', rules.sql, src],
  ['only the settings read the environment and the config files', rules.settingsReaders, src],
  ['only the daemon, the engine and the command line wait, ask the clock and start threads', rules.time, src],
  ['src imports only what package.json lists as a dependency', packages, server],
  [
    'the page imports only what package.json lists for its build',
    rules.packages(Object.keys(manifest.devDependencies)),
    page,
  ],
  ['no file is over 400 lines and no function over 70', rules.sizes, src],
  ['no file needs itself by way of others', rules.cycles, src],
])('%s', (_, rule, files) => {
  expect(rule(files)).toEqual([])
})

test('the dependencies in package.json are the packages that are loaded from node_modules, and not bundled', () => {
  const texts = server.map(({ text }) => text).join('\n')
  const loads = texts.matchAll(/createRequire\(import\.meta\.url\)(?:\.resolve)?\('((?:@[^/']+\/)?[^/']+)/g)
  const loaded = [...loads].map(([, name = '']) => name)
  expect(new Set([...loaded, 'better-sqlite3'])).toEqual(new Set(Object.keys(manifest.dependencies)))
})

type Planted = readonly [path: string, ...lines: string[]]

const plant = (...files: readonly Planted[]): Parsed[] =>
  files.map(([path, ...lines]) => parseFile({ path, text: `${lines.join('\n')}\n` }))

/** The places a rule complains of, without its words. */
const placesOf = (rule: Rule, ...files: readonly Planted[]): string[] =>
  rule(plant(...files)).map((line) => line.split(' ')[0] ?? '')

test.each([
  ['src/indexer/a.ts', '../api/b.ts'],
  ['src/api/http/a.ts', '../../indexer/b.ts'],
  ['src/api/a.ts', '../daemon/b.ts'],
  ['src/api/a.ts', '../cli/b.ts'],
  ['src/api/a.ts', '../engine/b.ts'],
  ['src/indexer/a.ts', '../engine/b.ts'],
  ['src/engine/a.ts', '../daemon/b.ts'],
  ['src/engine/a.ts', '../cli/b.ts'],
  ['src/daemon/a.ts', '../cli/b.ts'],
  ['src/mirror/a.ts', '../indexer/b.ts'],
  ['src/mirror/migrations/a.ts', '../../api/queries/b.ts'],
  ['src/text/a.ts', '../mirror/b.ts'],
  ['src/archive/a.ts', '../mirror/b.ts'],
  ['src/text/a.ts', '../archive/b.ts'],
  ['src/api/reports/a.ts', '../../git/b.ts'],
  ['src/git/a.ts', '../api/b.ts'],
  ['src/git/a.ts', '../settings.ts'],
  ['src/model/a.ts', '../text/b.ts'],
  ['src/model/a.ts', '../settings.ts'],
  ['src/model/a.ts', 'node:fs'],
  ['src/model/a.ts', 'zod'],
  ['src/api/a.ts', '../settings.ts'],
  ['src/indexer/a.ts', '../settings/load.ts'],
  ['src/settings.ts', './mirror/b.ts'],
  ['src/settings/a.ts', '../daemon/b.ts'],
  ['src/cli/a.ts', '../archive/b.ts'],
  ['src/indexer/sources/one/a.ts', '../two/b.ts'],
  ['src/api/http/schemas/a.ts', '../problem.ts'],
  ['src/api/http/schemas/a.ts', '../../queries/b.ts'],
  ['src/api/http/schemas/a.ts', '../../../mirror/b.ts'],
  ['src/api/http/schemas/a.ts', 'hono'],
  ['src/api/queries/a.ts', '../http/schemas/b.ts'],
  ['src/utils/a.ts', '../model/b.ts'],
  ['src/web/a.tsx', '../api/http/b.ts'],
  ['src/web/a.tsx', '../model/b.ts'],
  ['src/web/lib/a.ts', '../../text/b.ts'],
  ['src/api/http/a.ts', '../../web/b.ts'],
  ['src/daemon/a.ts', '../web/b.tsx'],
  ['src/cli/a.ts', '../web/b.ts'],
])('%s may not import %s', (path, specifier) => {
  const line = `import { b } from '${specifier}'`
  expect(placesOf(rules.layers, [path, '', line])).toEqual([`${path}:2`])
})

test.each([
  `import type { B } from '../api/http/b.ts'`,
  `import type { B } from '../api/search/b.ts'`,
  `import type { B } from '../mirror/b.ts'`,
  `import type { B } from '../settings/b.ts'`,
  `import { type B, c } from '../api/http/b.ts'`,
])('the page may not hold: %s', (line) => {
  const places = placesOf(rules.layers, ['src/web/a.tsx', line, 'export const A = () => <p>text</p>'])
  expect(places).toEqual(['src/web/a.tsx:1'])
})

test.each([
  `import type { B } from '../api/http/schemas/b.ts'`,
  `import { type B } from '../model/b.ts'`,
  `import { b } from './lib/b.ts'`,
  `setTimeout(() => <p>late</p>, 10)`,
])('the page may hold: %s', (line) => {
  expect(placesOf(rules.layers, ['src/web/a.tsx', line])).toEqual([])
  expect(placesOf(rules.time, ['src/web/a.tsx', line])).toEqual([])
})

test.each([
  `import '../daemon/b.ts'`,
  `import type { B } from '../daemon/b.ts'`,
  `import { type B } from '../daemon/b.ts'`,
  `import * as b from '../daemon/b.ts'`,
  `export { b } from '../daemon/b.ts'`,
  `export * from '../daemon/b.ts'`,
  `export type { B } from '../daemon/b.ts'`,
  `const b = await import('../daemon/b.ts')`,
  `type B = import('../daemon/b.ts').B`,
  `const worker = new Worker(new URL('../daemon/b.js', import.meta.url))`,
])('a forbidden import is seen as %s', (line) => {
  expect(placesOf(rules.layers, ['src/api/a.ts', line])).toEqual(['src/api/a.ts:1'])
})

test('a breach is told with its line, whatever letters stand before it', () => {
  const before = Array.from({ length: 9 }, () => `const text = '${'\u{1F600}’é'.repeat(40)}'`)
  expect(placesOf(rules.layers, ['src/api/a.ts', ...before, `import '../daemon/b.ts'`])).toEqual(['src/api/a.ts:10'])
})

test.each([
  ['src/cli/a.ts', `import { b } from '../daemon/b.ts'`],
  ['src/cli/a.ts', `import { b } from '../engine/b.ts'`],
  ['src/daemon/a.ts', `import { b } from '../engine/b.ts'`],
  ['src/engine/a.ts', `import { b } from '../indexer/b.ts'`],
  ['src/cli/a.ts', `import { b } from '../settings.ts'`],
  ['src/daemon/a.ts', `import { b } from '../indexer/b.ts'`],
  ['src/indexer/a.ts', `import { b } from './sources/one/b.ts'`],
  ['src/indexer/sources/one/a.ts', `import { b } from '../../../mirror/b.ts'`],
  ['src/indexer/sources/one/a.ts', `import { b } from './b.ts'`],
  ['src/api/a.ts', `import type { Settings } from '../settings.ts'`],
  ['src/api/a.ts', `import { type Settings } from '../settings.ts'`],
  ['src/text/a.ts', `import { b } from '../model/b.ts'`],
  ['src/model/a.ts', `import type { B } from './b.ts'`],
  ['src/api/http/schemas/a.ts', `import { b } from './b.ts'`],
  ['src/api/http/schemas/a.ts', `import * as z from 'zod/mini'`],
  ['src/api/http/schemas/a.ts', `import { b } from '../../../model/b.ts'`],
  ['src/api/queries/a.ts', `import type { B } from '../http/schemas/b.ts'`],
  ['src/cli/commands/a.ts', `import { b } from '../../api/http/schemas/b.ts'`],
  ['src/api/a.ts', `// import { b } from '../daemon/b.ts'`],
])('%s may hold: %s', (path, line) => {
  expect(placesOf(rules.layers, [path, line])).toEqual([])
})

const adapter: Planted = ['src/indexer/sources/composer-kv/index.ts', `export const composerKvSource = 'cursorDiskKV'`]

test.each([
  ['src/model/a.ts', 'export type ComposerId = string'],
  ['src/mirror/a.ts', `const key = 'bubbleId:1'`],
  ['src/api/queries/a.ts', '// As in the cursorDiskKV table.'],
  ['src/daemon/a.ts', `const table = 'ItemTable'`],
  ['src/daemon/a.ts', `const file = 'state.vscdb'`],
  ['src/daemon/a.ts', `const kind = 'composer-kv'`],
  ['src/settings/schema.ts', `const key = 'composer-data'`],
  ['src/indexer/discover.ts', `const key = 'composerData'`],
  ['config/schema.json', '{ "composers": {} }'],
  ['src/api/list-composers.ts', 'export {}'],
])("a word of Cursor's is seen in %s: %s", (path, line) => {
  expect(new Set(placesOf(rules.words, adapter, [path, line]))).toEqual(new Set([`${path}:1`]))
})

test('adapters speak as Cursor does, and are called by their names where they are listed', () => {
  const places = placesOf(
    rules.words,
    adapter,
    ['src/indexer/sources/composer-kv/README.md', 'A bubble is a row of cursorDiskKV.'],
    ['src/indexer/discover.ts', `import { composerKvSource } from './sources/composer-kv/index.ts'`],
    ['src/settings/schema.ts', `const kinds = ['composer-kv']`],
    ['config/default.json', '{ "composer-kv": {} }'],
  )
  expect(places).toEqual([])
})

test.each([
  `const all = 'select id from chats'`,
  'const all = `\n  select id\n  from chats`',
  'const one = `with found as (${below}) select id from found`',
  `const add = 'insert into chats (id) values (?)'`,
  `const add = 'insert or replace into chats (id) values (?)'`,
  `const save = 'update chats set title = ?'`,
  `const drop = 'delete from chats'`,
  `const make = 'create table chats (id text) strict'`,
  `const make = 'create unique index by_id on chats (id)'`,
  "const half = ' and chat = @chat'",
  'const half = `where project = ${num}`',
  'const rows = db.prepare(sql).all()',
  `db.pragma('query_only = on')`,
  `db.exec('begin')`,
  `const lock = 'begin exclusive'`,
  `const plan = 'explain query plan ' + sql`,
])('SQL is seen in: %s', (line) => {
  for (const path of ['src/daemon/a.ts', 'src/api/http/a.ts', 'src/indexer/sources/one/index.ts']) {
    expect(new Set(placesOf(rules.sql, [path, line]))).toEqual(new Set([`${path}:1`]))
  }
  for (const path of [
    'src/mirror/a.ts',
    'src/api/queries/a.ts',
    'src/api/search/a.ts',
    'src/indexer/sources/one/read.ts',
  ]) {
    expect(placesOf(rules.sql, [path, line])).toEqual([])
  }
})

test.each([
  `const say = 'Select the chats that you want.'`,
  `const say = 'Update the settings, and set the port.'`,
  `const parameters = { notYet: ['commit', 'repo'] }`,
  `const found = /^begin$/.exec(text)`,
  '// select id from chats',
])('no SQL is seen in: %s', (line) => {
  expect(placesOf(rules.sql, ['src/cli/a.ts', line])).toEqual([])
})

test('the lock and the door to the stores may set up a connection, but ask for no rows', () => {
  for (const path of ['src/engine/lock.ts', 'src/indexer/open-safely/cursor-file.ts']) {
    expect(placesOf(rules.sql, [path, `db.pragma('query_only = on')`, `db.exec('begin exclusive')`])).toEqual([])
    expect(placesOf(rules.sql, [path, `db.exec('delete from chats')`])).toEqual([`${path}:1`])
  }
})

test.each([
  'const home = process.env.HOME',
  `const home = process['env'].HOME`,
  'const home = globalThis.process.env.HOME',
  'const home = process?.env.HOME',
  'const { env } = process',
  `import { env } from 'node:process'`,
  `import process from 'process'`,
  `import { parse } from 'jsonc-parser'`,
  `const text = readFileSync(join(folder, 'config.json'), 'utf8')`,
  `const file = new URL('../../config/default.json', import.meta.url)`,
  'const file = `${folder}/config.json`',
])('outside the settings this is seen: %s', (line) => {
  expect(new Set(placesOf(rules.settingsReaders, ['src/cli/a.ts', line]))).toEqual(new Set(['src/cli/a.ts:1']))
  expect(placesOf(rules.settingsReaders, ['src/settings/a.ts', line])).toEqual([])
  expect(placesOf(rules.settingsReaders, ['src/settings.ts', line])).toEqual([])
})

test.each([
  'process.umask(0o077)',
  'const { env } = world',
  'const home = world.env.HOME',
  '// process.env is not read',
])('outside the settings this is fine: %s', (line) => {
  expect(placesOf(rules.settingsReaders, ['src/cli/a.ts', line])).toEqual([])
})

test.each([
  [`import { spawn } from 'node:child_process'`, []],
  [`import { exec } from 'node:child_process'`, ['src/git/a.ts:1']],
  [`import { execFile, spawn } from 'node:child_process'`, ['src/git/a.ts:1']],
  [`import * as processes from 'node:child_process'`, ['src/git/a.ts:1']],
  ['setTimeout(act, 10)', ['src/git/a.ts:1']],
])('git is called without a shell: %s', (line, seen) => {
  expect(placesOf(rules.time, ['src/git/a.ts', line])).toEqual(seen)
})

test.each([
  'setTimeout(act, 10)',
  'const timer = globalThis.setInterval(act, 10)',
  'await new Promise((resume) => setImmediate(resume))',
  `import { setTimeout as wait } from 'node:timers/promises'`,
  `import { schedule } from 'node-cron'`,
  `import { schedule, validate } from 'node-cron'`,
  `import cron from 'node-cron'`,
  `import { Worker } from 'node:worker_threads'`,
  `import { fork } from 'child_process'`,
  'const nowMs = Date.now()',
  'const now = new Date()',
])('outside the daemon and the command line this is seen: %s', (line) => {
  for (const path of ['src/api/http/a.ts', 'src/indexer/a.ts', 'src/settings.ts']) {
    expect(new Set(placesOf(rules.time, [path, line]))).toEqual(new Set([`${path}:1`]))
  }
  expect(placesOf(rules.time, ['src/daemon/a.ts', line], ['src/cli/a.ts', line])).toEqual([])
})

test.each([
  'await stream.sleep(everyMs)',
  `import { validate } from 'node-cron'`,
  'const at = new Date(sentAtMs)',
  'const startedAt = performance.now()',
  '// setTimeout is for the daemon',
])('outside the daemon and the command line this is fine: %s', (line) => {
  expect(placesOf(rules.time, ['src/api/http/a.ts', line])).toEqual([])
})

test('a package that is no dependency is seen, and Node itself is none', () => {
  const rule = rules.packages(['hono', '@hono/node-server'])
  const lines = [
    'hono',
    'hono/streaming',
    '@hono/node-server',
    'node:fs',
    'fs',
    './b.ts',
    'left-pad',
    '@hono/zod',
    'vite',
  ]
  const places = placesOf(rule, ['src/api/a.ts', ...lines.map((each) => `import '${each}'`)])
  expect(places).toEqual(['src/api/a.ts:7', 'src/api/a.ts:8', 'src/api/a.ts:9'])
})

const statements = (count: number): string[] => Array.from({ length: count }, (_, index) => `  act(${index})`)

test('a file is seen from its 401st line on', () => {
  expect(placesOf(rules.sizes, ['src/api/a.ts', ...statements(400)])).toEqual([])
  expect(placesOf(rules.sizes, ['src/api/a.ts', ...statements(401)])).toEqual(['src/api/a.ts:1'])
})

test.each([
  ['function act() {', '}'],
  ['const act = async () => {', '}'],
  ['class A { act() {', '} }'],
  ['const a = { *act() {', '} }'],
  ['on(function () {', '})'],
])('a function is seen from its 71st line on: %s', (opening, end) => {
  expect(placesOf(rules.sizes, ['src/api/a.ts', '', opening, ...statements(68), end])).toEqual([])
  expect(placesOf(rules.sizes, ['src/api/a.ts', '', opening, ...statements(69), end])).toEqual(['src/api/a.ts:2'])
})

test('a cycle is seen, also one of types, and two ways to the same file are none', () => {
  const a: Planted = ['src/api/a.ts', `import { b } from './b.ts'`, `import { c } from './c.ts'`]
  const b: Planted = ['src/api/b.ts', `import { c } from './c.ts'`]
  expect(rules.cycles(plant(a, b, ['src/api/c.ts', 'export {}']))).toEqual([])
  expect(rules.cycles(plant(a, b, ['src/api/c.ts', `import type { A } from './a.ts'`]))).toEqual([
    'src/api/a.ts -> src/api/b.ts -> src/api/c.ts -> src/api/a.ts',
  ])
  expect(rules.cycles(plant(['src/api/a.ts', `import { a } from './a.ts'`]))).toEqual(['src/api/a.ts -> src/api/a.ts'])
})
