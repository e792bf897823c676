import { expect, test } from 'vitest'
import { comparablePath, isWithin } from '../../../src/api/queries/projects.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

test.each(cases<[path: string, expected: string]>('paths'))('%s is compared as %s', (path, expected) => {
  expect(comparablePath(path, '/home/ada/shop')).toBe(expected)
})

test.each(cases<string>('windows'))('on Windows all spellings mean the same file: %s', (path) => {
  expect(comparablePath(path, 'c:/Users/a/Shop')).toBe('c:/users/a/shop/src/a.ts')
})

test('a folder contains itself and what is below it', () => {
  const paths = ['/home/ada/shop', '/home/ada/shop/x', '/home/ada/shopping']
  expect(paths.map((path) => isWithin(path, '/home/ada/shop'))).toEqual([true, true, false])
})
