import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
import type { Surroundings } from './settings/load.ts'

export { editJson } from './settings/config-text.ts'
export { defaultConfigFile, defaultDataDir, demoLink, discoverCursorUserDirs } from './settings/folders.ts'
export type { Environment } from './settings/folders.ts'
export { demoSettings, disabledKindsOf, flagsFor, loadSettings, originOf } from './settings/load.ts'
export type { DemoFolders, Flags, HubSettings, Settings, SettingsInput, Surroundings } from './settings/load.ts'

/** The environment and folders of this process. Nothing else reads `process.env`. */
export function realSurroundings(): Surroundings {
  return { env: process.env, platform: process.platform, homeDir: homeFolder(), workingDir: process.cwd() }
}

/** The home folder of the account, if the environment names none or a relative one. */
function homeFolder(): string {
  try {
    const named = homedir()
    return isAbsolute(named) ? named : userInfo().homedir
  } catch (cause) {
    throw new Error('This account has no home folder: set HOME', { cause })
  }
}
