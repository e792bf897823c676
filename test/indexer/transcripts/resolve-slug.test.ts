import { expect, test } from 'vitest'
import { resolveSlug } from '../../../src/indexer/sources/transcripts/resolve-slug.ts'

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

test.each<[string, string, string[], string | null]>([
  ['a plain path', 'home-me-shop', ['/home/me/shop'], '/home/me/shop'],
  ['a name with a dash', 'home-me-my-shop', ['/home/me/my-shop'], '/home/me/my-shop'],
  ['a name with a dot', 'home-me-my-shop', ['/home/me/my.shop'], '/home/me/my.shop'],
  ['a hidden folder, its signs counted', 'home-me--config', ['/home/me/.config'], '/home/me/.config'],
  ['a hidden folder, its signs as one', 'home-me-config', ['/home/me/.config'], '/home/me/.config'],
  ['a name with spaces', 'home-me-my-new-shop', ['/home/me/my new shop'], '/home/me/my new shop'],
  ['a name with letters that are not in the slug', 'home-me-caf-shop', ['/home/me/café/shop'], '/home/me/café/shop'],
  ['a folder that left no trace at all', 'home-me-shop', ['/home/me/仕事/shop'], '/home/me/仕事/shop'],
  ['a folder below one that reads like more', 'home-me-a-b', ['/home/me/a-b', '/home/me/a-b/c'], '/home/me/a-b'],
  ['nothing there', 'home-me-shop', ['/home/me/shops'], null],
  ['two readings', 'home-me-my-shop', ['/home/me/my-shop', '/home/me/my/shop'], null],
  ['two meanings of a dash', 'home-me-my-shop', ['/home/me/my-shop', '/home/me/my_shop'], null],
  ['a folder within that leaves no trace', 'home-me-shop', ['/home/me/shop/資料'], null],
  ['another case', 'home-me-Shop', ['/home/me/shop'], null],
  ['a window without a folder', 'empty-window', ['/empty/window'], null],
  ['the id of a window', '1770000000000', ['/1770000000000'], null],
  ['no name', '', [], null],
])('%s', (_, slug, paths, expected) => {
  expect(resolveSlug(slug, 'linux', disk(paths))).toBe(expected)
})

test.each([
  ['c-Users-me-shop', 'c:\\Users\\me\\shop'],
  ['c--Users-me-shop', 'c:\\Users\\me\\shop'],
  ['home-me-shop', null],
])('on Windows %s is %s', (slug, expected) => {
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
