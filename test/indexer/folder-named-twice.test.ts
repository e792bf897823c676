import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { discoverSources, nurseries, type Places } from '../../src/indexer/discover.ts'
import { CursorHome } from '../helpers/cursor.ts'

let home: CursorHome
let link: string
beforeEach(() => {
  home = new CursorHome()
  mkdirSync(join(home.userDir, 'workspaceStorage', 'w1'), { recursive: true })
  link = join(dirname(home.userDir), 'link')
})
afterEach(() => home.remove())

const places = (userDirs: readonly string[], homes: readonly string[] = []): Places => ({
  userDirs,
  homes,
  disabledKinds: [],
})
const paths = (userDirs: readonly string[]): string[] => discoverSources(places(userDirs)).map(({ path }) => path)

test('a User folder that is named by its path and by a link is read once, and its issues are not doubled', () => {
  symlinkSync(home.userDir, link)
  expect(paths([home.userDir, link])).toEqual(paths([home.userDir]))
  expect(paths([link, home.userDir])).toEqual(paths([link]))
  expect(nurseries(places([home.userDir, link]))).toEqual(nurseries(places([home.userDir])))
})

test('a home that is named by its path and by a link is read once', () => {
  const projects = join(dirname(home.userDir), 'home', 'projects', 'shop', 'agent-transcripts')
  mkdirSync(projects, { recursive: true })
  const [cursorHome, second] = [join(dirname(home.userDir), 'home'), join(dirname(home.userDir), 'second')]
  symlinkSync(cursorHome, second)
  expect(discoverSources(places([], [cursorHome, second])).map(({ path }) => path)).toEqual([projects])
})

test('a link that points to the folder only later is the same folder from then on', () => {
  expect(paths([home.userDir, link]).sort()).toEqual([...paths([home.userDir]), ...paths([link])].sort())
  symlinkSync(home.userDir, link)
  expect(paths([home.userDir, link])).toEqual(paths([home.userDir]))
})

test('two folders are two, even if neither exists or one may not be examined', () => {
  const file = join(dirname(home.userDir), 'file')
  writeFileSync(file, '')
  const apart = [join(file, 'User'), `${home.userDir}-a`, `${home.userDir}-b`, home.userDir]
  const each = apart.flatMap((userDir) => paths([userDir]))
  expect(paths(apart).sort()).toEqual(each.sort())
})
