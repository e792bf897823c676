import { expect, test } from 'vitest'
import { resolveSlug } from '../../../src/indexer/sources/transcripts/read.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

/** A disk with only these folders and their parents. */
function disk(paths: readonly string[], separator = '/') {
  const folders = new Map<string, Set<string>>()
  for (const path of paths) {
    const [root = '', ...names] = path.split(separator)
    let at = `${root}${separator}`
    for (const name of names) {
      folders.set(at, (folders.get(at) ?? new Set()).add(name))
      at = at.endsWith(separator) ? `${at}${name}` : `${at}${separator}${name}`
    }
    folders.set(at, folders.get(at) ?? new Set())
  }
  return (path: string) => [...(folders.get(path) ?? [])]
}

test.each(cases<[string, string, string[], string | null]>('cases'))('%s', (_, slug, paths, expected) => {
  expect(resolveSlug(slug, 'linux', disk(paths))).toBe(expected)
})

test.each(cases<[string, string | null]>('on Windows'))('on Windows %s is %s', (slug, expected) => {
  expect(resolveSlug(slug, 'win32', disk(['c:\\Users\\me\\shop'], '\\'))).toBe(expected)
})

test('a folder that cannot be listed makes the result uncertain', () => {
  const open = disk(['/home/me/my-shop', '/home/me/my'])
  expect(resolveSlug('home-me-my-shop', 'linux', open)).toBe('/home/me/my-shop')
  expect(resolveSlug('home-me-my-shop', 'linux', (path) => (path === '/home/me/my' ? null : open(path)))).toBeNull()
})

test('an endless search is given up', () => {
  let listings = 0
  const endless = () => {
    listings += 1
    return ['_', 'a']
  }
  expect(resolveSlug('a-a-a-a', 'linux', endless)).toBeNull()
  expect(listings).toBeLessThan(1000)
})
