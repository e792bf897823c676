import { expect, test } from 'vitest'
import { gitPath, liesIn, repositoryPath } from '../../../src/api/reports/repositories.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const shop = ['/home/ada/shop']

test.each(cases<[path: string, expected: string | null]>('paths'))(
  '%s is in the repository at %s',
  (path, expected) => {
    expect(repositoryPath(path, '/home/ada/shop', shop)).toBe(expected)
  },
)

test('a folder is inside the repository, whatever spelling of its top it has', () => {
  const tops = ['/tmp/shop', '/private/tmp/shop']
  const folders = ['/tmp/shop', '/private/tmp/shop/x/', '/tmp/shopping']
  expect(folders.map((folder) => liesIn(folder, tops))).toEqual([true, true, false])
})

test.each(cases<string>('windows'))('on Windows all spellings mean the same file: %s', (path) => {
  expect(repositoryPath(path, 'c:/Users/a/Shop', ['c:/users/a/shop'])).toBe(gitPath('src/A.ts', ['c:/users/a/shop']))
})

test('case matters on case-sensitive systems', () => {
  const place = ['/home/ada/Shop']
  expect(gitPath('Src/A.ts', place)).toBe('Src/A.ts')
  expect(repositoryPath('/home/ada/shop/a', '/home/ada/Shop', place)).toBeNull()
})
