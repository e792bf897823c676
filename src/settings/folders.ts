import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { PlatformPath } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** The path rules of a platform, which may differ from the running one. */
export const pathsOf = (platform: NodeJS.Platform): PlatformPath => (platform === 'win32' ? win32 : posix)

/** The folders in which the programs of a user keep settings and data. */
function userFolders(platform: NodeJS.Platform, env: Environment, home: string) {
  const paths = pathsOf(platform)
  const from = (name: string, ...usual: readonly string[]): string => {
    const folder = env[name]
    // The XDG base directory specification tells programs to ignore an empty or relative value.
    return folder !== undefined && paths.isAbsolute(folder) ? folder : paths.join(home, ...usual)
  }
  const xdgConfig = from('XDG_CONFIG_HOME', '.config')
  if (platform === 'win32') {
    return {
      xdgConfig,
      settings: from('APPDATA', 'AppData', 'Roaming'),
      data: from('LOCALAPPDATA', 'AppData', 'Local'),
    }
  }
  const support = paths.join(home, 'Library', 'Application Support')
  if (platform === 'darwin') return { xdgConfig, settings: support, data: support }
  return { xdgConfig, settings: xdgConfig, data: from('XDG_DATA_HOME', '.local', 'share') }
}

/**
 * The default locations of Cursor's "User" folders. The stable channel's folder is always included, so that it can be
 * watched; those of the Nightly and Insiders channels only if they exist.
 */
export function discoverCursorUserDirs(
  platform: NodeJS.Platform,
  env: Environment,
  home: string,
  exists: (path: string) => boolean = existsSync,
): string[] {
  const paths = pathsOf(platform)
  const parent = userFolders(platform, env, home).settings
  const others = ['Cursor Nightly', 'Cursor - Insiders'].map((channel) => paths.join(parent, channel, 'User'))
  return [paths.join(parent, 'Cursor', 'User'), ...others.filter((folder) => exists(folder))]
}

/**
 * Cursor's home is `.cursor` on every platform. It contains agent transcripts and the chats of Cursor's command line, which can
 * also be below the user's configuration: that folder is included if it exists.
 */
export function defaultCursorHomes(
  platform: NodeJS.Platform,
  env: Environment,
  home: string,
  exists: (path: string) => boolean = existsSync,
): string[] {
  const paths = pathsOf(platform)
  const other = paths.join(userFolders(platform, env, home).xdgConfig, 'cursor')
  return [paths.join(home, '.cursor'), ...(exists(other) ? [other] : [])]
}

export const defaultDataDir = (platform: NodeJS.Platform, env: Environment, home: string): string =>
  pathsOf(platform).join(userFolders(platform, env, home).data, 'cursordex')

/** Where commands with `--demo` find the data folder of the running demo: a link beside the default data folder. */
export const demoLink = (platform: NodeJS.Platform, env: Environment, home: string): string =>
  `${defaultDataDir(platform, env, home)}-demo`

export const defaultConfigFile = (platform: NodeJS.Platform, env: Environment, home: string): string =>
  pathsOf(platform).join(userFolders(platform, env, home).settings, 'cursordex', 'config.json')
