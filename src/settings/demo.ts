import { pathsOf } from './folders.ts'
import { loadSettings } from './load.ts'
import type { Settings, SettingsInput } from './load.ts'
import { DATA_DIR_VARIABLE } from './words.ts'

export interface DemoFolders {
  readonly userDir: string
  readonly dataDir: string
}

/**
 * The settings of a demonstration: every folder is one of its own, but a data folder that a flag or the environment
 * names; the port is any free one, unless a flag names it.
 */
export function demoSettings(input: SettingsInput, folders: DemoFolders): Settings {
  const { flags, env, platform } = input
  const isDataDirNamed = flags.dataDir !== undefined || Boolean(env[DATA_DIR_VARIABLE])
  const settings = loadSettings({
    ...input,
    flags: {
      ...flags,
      cursorUserDir: [folders.userDir],
      cursorHome: [],
      ...(isDataDirNamed ? {} : { dataDir: folders.dataDir }),
      port: flags.port ?? '0',
    },
  })
  const { dataDir, archives } = settings
  return { ...settings, archives: { ...archives, dir: pathsOf(platform).join(dataDir, 'archives') } }
}
