import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Survey } from '../../../src/indexer/survey.ts'
import { cliCanary, cliEras, user } from '../../helpers/eras/cli-store.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

const surveyed = (path?: string): Survey | undefined => home.sources[0]?.survey?.(path)
const families = (survey: Survey | undefined): unknown[] =>
  survey?.tables.flatMap((table) => table.families.map(({ name, use, rows }) => [table.name, name, use, rows])) ?? []

test('every store is counted, and each of its blobs as reached or not', () => {
  const store = home.chat('a', [user('one'), user('two')])
  store.blob(user('left'))
  home.chat('b', [user('three')])
  const found = surveyed()
  expect(found).toMatchObject({ state: 'ok' })
  expect(families(found)).toEqual([
    ['stores', 'store', 'read', 2],
    ['blobs', 'reached', 'read', 5],
    ['blobs', 'not reached', 'noise', 1],
  ])
})

test('the counts of the survey equal those of the mirror, including what cannot be read', () => {
  const store = home.store('a')
  home.say(store, { entries: [store.blob(user('one')), 'ab'.repeat(32), store.blob({ role: 'oracle' })] })
  home.store('b').facts({ latestRootBlobId: 'cd'.repeat(32) })
  home.chat('c', [user('two')])
  home.pass()
  const rows = surveyed()
    ?.tables.filter(({ use }) => use === 'rows')
    .map((table) => table.rows)
  expect(home.issues).toHaveLength(3)
  expect(rows).toEqual([5])
  expect(home.rows('select count(*) as rows from source_rows where is_live = 1')).toEqual([{ rows: 5 }])
})

test('an unknown table is named', () => {
  home.chat('a', [user('one')]).db.exec('create table branches (a); create table "ann@yard.org" (b)')
  expect(
    surveyed()
      ?.tables.filter(({ use }) => use === 'unknown')
      .map(({ name }) => name),
  ).toEqual(['branches', '<table>'])
})

test('a single named store is examined alone', () => {
  const store = home.chat('a', [user('one')])
  home.chat('b', [user('two')])
  expect(families(surveyed(store.path))[0]).toEqual(['stores', 'store', 'read', 1])
  mkdirSync(join(home.root, 'not a store'))
  expect(families(surveyed(join(home.root, 'not a store')))).toEqual([['stores', 'store', 'read', 1]])
})

test('no text of a chat is reported', () => {
  for (const era of cliEras) era.write(home.path)
  const report = JSON.stringify(home.sources.map((source) => source.survey?.()))
  for (const word of [cliCanary, 'forge', 'Temper', 'era-cli', home.root]) expect(report).not.toContain(word)
})
