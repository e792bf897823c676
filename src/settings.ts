import { homedir } from 'node:os'
import type { Surroundings } from './settings/load.ts'

export { demoSettings } from './settings/demo.ts'
export type { DemoFolders } from './settings/demo.ts'
export { defaultConfigFile, defaultDataDir, discoverCursorUserDirs } from './settings/folders.ts'
export type { Environment } from './settings/folders.ts'
export { loadSettings, placeInConfig } from './settings/load.ts'
export type { Settings, SettingsInput, Surroundings } from './settings/load.ts'
export type { Flags } from './settings/words.ts'

/** What this process was started in. Nothing else reads `process.env`. */
export function realSurroundings(): Surroundings {
  return { env: process.env, platform: process.platform, homeDir: homedir(), workingDir: process.cwd() }
}
