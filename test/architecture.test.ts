import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as rules from './helpers/architecture-rules.ts'
import { parseFile, type Parsed, type Rule } from './helpers/architecture-rules.ts'
import { casesBeside } from './helpers/cases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const cases = casesBeside(import.meta.url)

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
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}
// Most packages are bundled, so they are development dependencies.
const packages = rules.packages(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
const ofPage = rules.packages(Object.keys(manifest.devDependencies))

test('the rules see the whole of src', () => {
  const rooms = new Set(src.map(({ path }) => path.split('/')[1]))
  const some = ['api', 'cli', 'daemon', 'engine', 'indexer', 'mirror', 'model', 'text']
  expect([...rooms]).toEqual(expect.arrayContaining(some))
  const targets = src.flatMap(({ imports }) => imports.flatMap(({ target }) => target ?? []))
  expect(targets.length).toBeGreaterThan(400)
})

test.each<[claim: string, rule: Rule, files: readonly Parsed[]]>([
  ['every room imports only the rooms below it, and no adapter another', rules.layers, src],
  ['SQL stands in the mirror, the queries, the search and the readers of the adapters', rules.sql, src],
  ['what reads Cursor imports nothing that writes files', rules.readsOnly, src],
  ['src imports only what package.json lists as a dependency', packages, server],
  ['the page imports only what package.json lists for its build', ofPage, page],
])('%s', (_, rule, files) => {
  expect(rule(files)).toEqual([])
})

test('the dependencies in package.json are the packages that are loaded from node_modules, and not bundled', () => {
  const texts = server.map(({ text }) => text).join('\n')
  const loads = texts.matchAll(/createRequire\(import\.meta\.url\)(?:\.resolve)?\('((?:@[^/']+\/)?[^/']+)/g)
  const loaded = [...loads].map(([, name = '']) => name)
  expect(new Set([...loaded, 'better-sqlite3'])).toEqual(new Set(Object.keys(manifest.dependencies)))
})

/** The place a rule complains of in a file of these lines; null if it finds nothing. */
function placeOf(rule: Rule, path: string, ...lines: readonly string[]): string | null {
  const [first] = rule([parseFile({ path, text: `${lines.join('\n')}\n` })])
  return first?.split(' ')[0] ?? null
}

test('a breach of each wall between rooms is seen, and told with its line', () => {
  const before = Array.from({ length: 9 }, () => `const text = '${'\u{1F600}’é'.repeat(40)}'`)
  for (const [path, specifier] of cases<[string, string]>('walls')) {
    expect(placeOf(rules.layers, path, ...before, `import { b } from '${specifier}'`)).toBe(`${path}:10`)
  }
  for (const line of cases<string>('page')) {
    const place = placeOf(rules.layers, 'src/web/a.tsx', line, 'export const A = () => <p>text</p>')
    expect([line, place]).toEqual([line, 'src/web/a.tsx:1'])
  }
  for (const [path, line] of cases<[string, string]>('allowed')) {
    expect([path, line, placeOf(rules.layers, path, line)]).toEqual([path, line, null])
  }
})

test('a forbidden import is seen in any form', () => {
  for (const line of cases<string>('forms')) {
    expect([line, placeOf(rules.layers, 'src/api/a.ts', line)]).toEqual([line, 'src/api/a.ts:1'])
  }
})

test('SQL is seen in any form, outside of its rooms', () => {
  const others = ['src/daemon/a.ts', 'src/api/http/a.ts', 'src/indexer/sources/one/index.ts', 'src/demo/a.ts']
  const rooms = ['src/mirror/a.ts', 'src/api/queries/a.ts', 'src/api/search/a.ts', 'src/indexer/sources/one/read.ts']
  for (const line of cases<string>('sql')) {
    for (const path of others) expect([line, placeOf(rules.sql, path, line)]).toEqual([line, `${path}:1`])
    for (const path of rooms) expect([line, placeOf(rules.sql, path, line)]).toEqual([line, null])
  }
  for (const line of cases<string>('no SQL')) {
    expect([line, placeOf(rules.sql, 'src/cli/a.ts', line)]).toEqual([line, null])
  }
})

test('the lock and the door to the stores may set up a connection, but ask for no rows', () => {
  for (const path of ['src/engine/lock.ts', 'src/indexer/open-safely/cursor-file.ts']) {
    expect(placeOf(rules.sql, path, `db.pragma('query_only = on')`, `db.exec('begin exclusive')`)).toBeNull()
    expect(placeOf(rules.sql, path, `db.exec('delete from chats')`)).toBe(`${path}:1`)
  }
})

test('whatever could write to Cursor’s files is seen', () => {
  const path = 'src/indexer/sources/one/read.ts'
  for (const names of ['{ writeFileSync }', '{ statSync, rmSync as drop }', 'fs', '* as fs', '{ createWriteStream }']) {
    expect([names, placeOf(rules.readsOnly, path, `import ${names} from 'node:fs'`)]).toEqual([names, `${path}:1`])
  }
  expect(placeOf(rules.readsOnly, path, `import { readFileSync, statSync } from 'node:fs'`)).toBeNull()
  expect(placeOf(rules.readsOnly, 'src/engine/a.ts', `import { writeFileSync } from 'node:fs'`)).toBeNull()
})

test('a package that is no dependency is seen, and Node itself is none', () => {
  const rule = rules.packages(['hono', '@hono/node-server'])
  for (const specifier of ['hono', 'hono/streaming', '@hono/node-server', 'node:fs', 'fs', './b.ts']) {
    expect([specifier, placeOf(rule, 'src/api/a.ts', `import '${specifier}'`)]).toEqual([specifier, null])
  }
  for (const specifier of ['left-pad', '@hono/zod', 'vite']) {
    expect([specifier, placeOf(rule, 'src/api/a.ts', `import '${specifier}'`)]).toEqual([specifier, 'src/api/a.ts:1'])
  }
})
