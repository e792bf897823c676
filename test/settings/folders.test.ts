import { isAbsolute } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { defaultConfigFile, defaultDataDir, discoverCursorUserDirs, realSurroundings } from '../../src/settings.ts'
import type { Environment } from '../../src/settings.ts'

type Place = readonly [NodeJS.Platform, Environment, home: string]

const places: readonly [name: string, Place, userDir: string, dataDir: string, configFile: string][] = [
  [
    'Linux',
    ['linux', {}, '/home/a'],
    '/home/a/.config/Cursor/User',
    '/home/a/.local/share/cursordex',
    '/home/a/.config/cursordex/config.json',
  ],
  [
    'Linux with XDG folders',
    ['linux', { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/home/a'],
    '/c/Cursor/User',
    '/d/cursordex',
    '/c/cursordex/config.json',
  ],
  [
    'Linux with empty or relative XDG folders',
    ['linux', { XDG_CONFIG_HOME: '', XDG_DATA_HOME: 'd' }, '/home/a'],
    '/home/a/.config/Cursor/User',
    '/home/a/.local/share/cursordex',
    '/home/a/.config/cursordex/config.json',
  ],
  [
    'macOS',
    ['darwin', { XDG_CONFIG_HOME: '/c' }, '/Users/a'],
    '/Users/a/Library/Application Support/Cursor/User',
    '/Users/a/Library/Application Support/cursordex',
    '/Users/a/Library/Application Support/cursordex/config.json',
  ],
  [
    'Windows',
    ['win32', { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' }, 'C:\\Users\\a'],
    'D:\\R\\Cursor\\User',
    'D:\\L\\cursordex',
    'D:\\R\\cursordex\\config.json',
  ],
  [
    'Windows without its variables',
    ['win32', {}, 'C:\\Users\\a'],
    'C:\\Users\\a\\AppData\\Roaming\\Cursor\\User',
    'C:\\Users\\a\\AppData\\Local\\cursordex',
    'C:\\Users\\a\\AppData\\Roaming\\cursordex\\config.json',
  ],
]

test.each(places)('the folders of %s are where that system has them', (_, place, userDir, dataDir, configFile) => {
  expect(discoverCursorUserDirs(...place, () => false)).toEqual([userDir])
  expect(defaultDataDir(...place)).toBe(dataDir)
  expect(defaultConfigFile(...place)).toBe(configFile)
})

const found = (present: readonly string[]) =>
  discoverCursorUserDirs('linux', {}, '/home/a', (path) => present.includes(path)).slice(1)

test('other channels are found if they exist; the stable one is always listed', () => {
  const nightly = '/home/a/.config/Cursor Nightly/User'
  const insiders = '/home/a/.config/Cursor - Insiders/User'
  expect(found([])).toEqual([])
  expect(found([nightly])).toEqual([nightly])
  expect(found([insiders, nightly])).toEqual([nightly, insiders])
})

afterEach(() => vi.unstubAllEnvs())

test.each(['', 'somewhere'])('a HOME of %j does not create a mirror in the working folder', (home) => {
  vi.stubEnv('HOME', home)
  expect(isAbsolute(realSurroundings().homeDir)).toBe(true)
})
