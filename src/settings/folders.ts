import { existsSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { PlatformPath } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

/** The path rules of a platform, which may differ from the running one. */
export const pathsOf = (platform: NodeJS.Platform): PlatformPath => (platform === 'win32' ? win32 : posix)

// The XDG base directory specification tells programs to ignore an empty or relative value.
function folderFrom(env: Environment, name: string, platform: NodeJS.Platform): string | null {
  const folder = env[name]
  return folder !== undefined && pathsOf(platform).isAbsolute(folder) ? folder : null
}

function roamingFolder(platform: NodeJS.Platform, env: Environment, home: string): string {
  const paths = pathsOf(platform)
  if (platform === 'win32') return folderFrom(env, 'APPDATA', platform) ?? paths.join(home, 'AppData', 'Roaming')
  if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support')
  return folderFrom(env, 'XDG_CONFIG_HOME', platform) ?? paths.join(home, '.config')
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
  const parent = roamingFolder(platform, env, home)
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
  const given = folderFrom(env, 'XDG_CONFIG_HOME', platform)
  const config = given ?? (platform === 'win32' ? null : paths.join(home, '.config'))
  const other = config === null ? [] : [paths.join(config, 'cursor')]
  return [paths.join(home, '.cursor'), ...other.filter((folder) => exists(folder))]
}

export function defaultDataDir(platform: NodeJS.Platform, env: Environment, home: string): string {
  const paths = pathsOf(platform)
  if (platform === 'win32') {
    return paths.join(folderFrom(env, 'LOCALAPPDATA', platform) ?? paths.join(home, 'AppData', 'Local'), 'cursordex')
  }
  if (platform === 'darwin') return paths.join(home, 'Library', 'Application Support', 'cursordex')
  return paths.join(folderFrom(env, 'XDG_DATA_HOME', platform) ?? paths.join(home, '.local', 'share'), 'cursordex')
}

/** Where commands with `--demo` find the data folder of the running demo: a link beside the default data folder. */
export const demoLink = (platform: NodeJS.Platform, env: Environment, home: string): string =>
  `${defaultDataDir(platform, env, home)}-demo`

export function defaultConfigFile(platform: NodeJS.Platform, env: Environment, home: string): string {
  return pathsOf(platform).join(roamingFolder(platform, env, home), 'cursordex', 'config.json')
}
