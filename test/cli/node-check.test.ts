import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { whyNodeCannotRun } from '../../src/cli/node-check.ts'

type Installed = readonly [plain: string | null, newer: string | null]

const cases: readonly [node: string, napi: string | undefined, installed: Installed, why: RegExp | null][] = [
  ['20.19.0', '9', ['12.11.1', null], null],
  ['20.20.2', '9', ['12.11.1', null], null],
  ['22.14.0', '10', ['13.2.0', null], null],
  ['22.23.3', '10', ['12.11.1', null], null],
  ['20.20.2', '9', ['12.11.1', '13.2.0'], null],
  ['22.14.0', '10', ['12.11.1', '13.2.0'], null],
  ['24.21.0', '10', ['12.11.1', '13.2.0'], null],
  ['26.1.0', '10', [null, '13.2.0'], null],
  [
    '24.21.0',
    '10',
    ['12.11.1', null],
    /^The installed better-sqlite3 12\.11\.1 does not run on Node 24\.21\.0: run "npm ci"/,
  ],
  ['20.20.2', '9', [null, '13.2.0'], /not installed completely: run "npm ci"/],
  ['24.0.0', '10', ['13.2.0', null], null],
  ['26.1.0', '10', ['14.0.0', null], null],
  [
    '20.20.2',
    '9',
    ['13.2.0', null],
    /^The installed better-sqlite3 13\.2\.0 does not run on Node 20\.20\.2: run "npm ci"/,
  ],
  ['22.14.0', undefined, ['13.2.0', null], /does not run on Node 22\.14\.0: run/],
  ['20.20.2', '9', [null, null], /not installed completely: run "npm ci"/],
  ['14.0.0', '6', ['12.11.1', null], /does not run on Node 14\.0\.0: Install Node 24/],
  ['18.20.0', '9', ['12.11.1', null], /does not run/],
  ['20.18.9', '9', ['12.11.1', null], /does not run/],
  ['21.7.0', '9', ['12.11.1', null], /does not run/],
  ['22.13.1', '9', ['12.11.1', null], /does not run/],
  ['23.11.0', '10', ['12.11.1', null], /does not run/],
]

test.each(cases)('Node %s with Node-API %s and better-sqlite3 %j', (node, napi, [sqliteAddon, napiAddon], why) => {
  const sentence = whyNodeCannotRun({ node, napi, sqliteAddon, napiAddon })
  expect(sentence ?? 'It can.').toMatch(why ?? /^It can\.$/)
})

test('the check agrees with the engines of package.json', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    engines: { node: string }
  }
  expect(manifest.engines.node).toBe('^20.19.0 || ^22.14.0 || >=24.0.0')
})

const sourceOf = (name: string) => readFileSync(new URL(`../../src/cli/${name}`, import.meta.url), 'utf8')

test('the entry of the program statically imports only built-in modules and the check', () => {
  const imports = (name: string) => [...sourceOf(name).matchAll(/^import .*? from '(.*)'$/gm)].map(([, from]) => from)
  expect(imports('bin.ts')).toEqual(['fs', 'module', './node-check.ts'])
  expect(imports('node-check.ts')).toEqual([])
  expect(sourceOf('bin.ts') + sourceOf('node-check.ts')).not.toMatch(
    /\?\?=|\|\|=|&&=|^await |\.at\(|replaceAll|#\w+ in/m,
  )
})
