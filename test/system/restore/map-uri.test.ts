import { describe, expect, test } from 'vitest'
import { readMap, type FolderMap } from '../../../src/indexer/sources/archive/map-uri.ts'
import { normaliseRoot } from '../../../src/indexer/projects/root-uri.ts'
import { UserError } from '../../../src/model/user-error.ts'

/** In the form of stored roots. */
const uriOf = (root: string): string => normaliseRoot(root)?.uri ?? ''

describe('folders are mapped by whole names', () => {
  test.each<[map: FolderMap, from: string, to: string]>([
    [{ '/Users/a': '/home/b' }, '/Users/a/shop', '/home/b/shop'],
    [{ '/Users/a': '/home/b' }, '/Users/a', '/home/b'],
    [{ '/Users/a/': '/home/b/' }, '/Users/a/shop/src', '/home/b/shop/src'],
    [{ '/Users/a': '/home/b' }, '/Users/ada/shop', '/Users/ada/shop'],
    [{ '/Users/a': '/home/b' }, '/srv/Users/a/shop', '/srv/Users/a/shop'],
    [{ '/Users/a': '/home/b' }, 'file:///Users/a/shop', '/home/b/shop'],
    [{ 'file:///Users/a': 'file:///home/b' }, '/Users/a/my%20shop', '/home/b/my%20shop'],
    [{ '/Users/a/my shop': '/srv/shop' }, 'file:///Users/a/my%20shop/x', '/srv/shop/x'],
    [{ '/Users/a': '/home/b', '/Users/a/job': '/srv/job' }, '/Users/a/job/x', '/srv/job/x'],
    [{ '/Users/a': '/Users/b', '/Users/b': '/Users/c' }, '/Users/a/x', '/Users/b/x'],
    [{ '/': '/mnt/old' }, '/Users/a/x', '/mnt/old/Users/a/x'],
    [{ '/Users/a': '/' }, '/Users/a/x', '/x'],
    [{ 'C:\\Users\\a': '/home/b' }, 'c:\\Users\\a\\shop', '/home/b/shop'],
    [{ 'c:/users/A': '/home/b' }, 'file:///C%3A/Users/a/shop', '/home/b/shop'],
    [{ '/home/b': 'D:\\work' }, '/home/b/shop', 'D:\\work\\shop'],
    [{ '\\\\box\\share': '/mnt/share' }, 'file://box/share/shop', '/mnt/share/shop'],
    // Windows ignores case, for all letters. Other systems do not.
    [{ 'C:\\JOSÉ': '/home/b' }, 'C:\\José\\shop', '/home/b/shop'],
    [{ 'C:\\ΟΔΟΣ': '/home/b' }, 'C:\\οδος\\Straße 1', '/home/b/Straße 1'],
    [{ 'C:\\STRASSE': '/home/b' }, 'C:\\Straße\\x', 'C:\\Straße\\x'],
    [{ '\\\\BOX\\Share': '/home/b' }, '\\\\box\\share\\Shop', '/home/b/Shop'],
    [{ 'file://wsl%24/ubuntu/home': '/home' }, '\\\\WSL$\\Ubuntu\\home\\ada', '/home/ada'],
    [{ 'vscode-remote://ssh-remote+box/c:/work': '/w' }, 'vscode-remote://ssh-remote%2Bbox/C:/Work/x', '/w/x'],
    [{ '/srv/JOSÉ': '/home/b' }, '/srv/José/x', '/srv/José/x'],
    [{ '/home/A': '/home/b' }, '/home/a/x', '/home/a/x'],
    [{ '/': '/mnt/old' }, '\\\\box\\share\\x', '\\\\box\\share\\x'],
    // A local folder is not a folder on a remote machine.
    [
      { '/home/a': '/home/b' },
      'vscode-remote://ssh-remote%2Bbox/home/a/x',
      'vscode-remote://ssh-remote%2Bbox/home/a/x',
    ],
    [{ 'vscode-remote://ssh-remote+box/home/a': '/home/b' }, 'vscode-remote://ssh-remote%2Bbox/home/a/x', '/home/b/x'],
    [{ '/home/a': 'vscode-remote://ssh-remote%2Bbox/srv' }, '/home/a/x', 'vscode-remote://ssh-remote%2Bbox/srv/x'],
  ])('%j maps %s to %s', (map, from, to) => {
    expect(uriOf(readMap(map).mapUri(uriOf(from)))).toBe(uriOf(to))
  })
})

test.each<[map: FolderMap, why: RegExp]>([
  [{ 'Users/a': '/home/b' }, /"Users\/a" is not an absolute path or a URI/],
  [{ '/Users/a': '' }, /"" is not an absolute path/],
  [{ '/Users/a': '~/b' }, /"~\/b" is not an absolute path/],
  [{ '/Users/a': '/srv/\u0000' }, /is not an absolute path/],
  [{ '/Users/a': '/home/a', 'file:///Users/a/': '/home/b' }, /is mapped twice/],
  [{ 'C:\\É': '/home/a', 'c:/é': '/home/b' }, /is mapped twice/],
])('the map %j is refused with the reason', (map, why) => {
  expect(() => readMap(map)).toThrow(UserError)
  expect(() => readMap(map)).toThrow(why)
})
