import { expect, test } from 'vitest'
import { gitPath, liesIn, placeOf, repositoryPath } from '../../../src/api/reports/repository-paths.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const repository = (root: string, topLevel = root, prefix = '') =>
  placeOf({ root, topLevel, prefix, head: null, branches: new Map() })

test.each(cases<[path: string, expected: string | null]>('paths'))(
  '%s is in the repository at %s',
  (path, expected) => {
    expect(repositoryPath(path, '/home/ada/shop', repository('/home/ada/shop'))).toBe(expected)
  },
)

test('a folder opened by a symbolic link, or inside the repository, is known by every spelling', () => {
  const place = repository('/tmp/shop/packages/app', '/private/tmp/shop', 'packages/app/')
  for (const path of ['a.ts', '/tmp/shop/packages/app/a.ts', '/private/tmp/shop/packages/app/a.ts']) {
    expect(repositoryPath(path, '/tmp/shop/packages/app', place)).toBe('packages/app/a.ts')
  }
  expect(repositoryPath('/tmp/shop/b.ts', '/tmp/shop', place)).toBe('b.ts')
  expect([liesIn('/tmp/shop', place), liesIn('/tmp/shop/x/', place), liesIn('/tmp/shopping', place)]).toEqual([
    true,
    true,
    false,
  ])
})

test.each(cases<string>('windows'))('on Windows all spellings mean the same file: %s', (path) => {
  const place = repository('c:/Users/a/Shop', 'C:/Users/a/Shop')
  expect(repositoryPath(path, 'c:/Users/a/Shop', place)).toBe(gitPath('src/A.ts', place))
})

test('case matters on case-sensitive systems', () => {
  const place = repository('/home/ada/Shop')
  expect(gitPath('Src/A.ts', place)).toBe('Src/A.ts')
  expect(repositoryPath('/home/ada/shop/a', '/home/ada/Shop', place)).toBeNull()
})
