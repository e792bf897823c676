import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { UserError } from '../model/user-error.ts'
import { readRegular, RefusedFile } from '../regular-file.ts'
import { configLayer } from './config-text.ts'
import {
  defaultConfigFile,
  defaultCursorHomes,
  defaultDataDir,
  discoverCursorUserDirs,
  pathsOf,
  type Environment,
} from './folders.ts'
import { judge, layOver, treeOf, valueAt, type KeyPath, type Layer } from './judge.ts'
import type { SettingsTree } from './schema.ts'
import { CONFIG_VARIABLE, environmentLayer, flagsLayer, type Flags, DATA_DIR_VARIABLE } from './words.ts'

export interface Settings extends Omit<SettingsTree, '$schema'> {
  readonly cursor: {
    readonly userDirs: readonly string[]
    /** True if the user named the folders. Then no others are read. */
    readonly userDirsExplicit: boolean
    readonly homes: readonly string[]
    readonly homesExplicit: boolean
  }
  readonly dataDir: string
  /** Path of the config file, which may not exist. */
  readonly configFile: string
  readonly archives: SettingsTree['archives'] & { readonly dir: string }
  readonly hub: HubSettings
}

/** `url`: null if there is no hub. It may contain a password. `machine`: the label of this machine. */
export type HubSettings = SettingsTree['hub'] & { readonly machine: string }

/** The kinds of disabled sources. */
export const disabledKindsOf = ({ sources }: Settings): string[] =>
  Object.entries(sources).flatMap(([kind, { enabled }]) => (enabled ? [] : [kind]))

/** The inputs of the settings besides the flags. */
export interface Surroundings {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  readonly homeDir: string
  /** Relative paths of flags and variables are resolved from here. */
  readonly workingDir?: string
}

export interface SettingsInput extends Surroundings {
  readonly flags: Flags
  /** The config file's text, if it is already known. The file is then not read. */
  readonly configText?: string
}

/**
 * The effective settings. Flags override the environment, the environment overrides the config file, and the config file
 * overrides the defaults. All resulting paths are absolute; a leading `~` means the home folder, and relative paths in the
 * config file are resolved from its folder.
 * @throws UserError with exit code 2, with the key, its place and the allowed values
 */
export function loadSettings(input: SettingsInput): Settings {
  const { layers, configFile } = layersOf(input)
  return settle(judge(layers), configFile, input)
}

/** The last layer decides. The first has every key. */
function layersOf(input: SettingsInput): { readonly layers: readonly Layer[]; readonly configFile: string } {
  const { env, platform, homeDir } = input
  const paths = pathsOf(platform)
  const fromWorkingDir = absoluteFrom(input.workingDir ?? process.cwd(), input)
  const named = namedConfig(input)
  const configFile = named === null ? defaultConfigFile(platform, env, homeDir) : fromWorkingDir(named)
  const text = input.configText ?? readConfig(configFile, named !== null)
  const layers = [
    defaultLayer(),
    withAbsolutePaths(configLayer(text, configFile), absoluteFrom(paths.dirname(configFile), input)),
    withAbsolutePaths(environmentLayer(env, paths.delimiter), fromWorkingDir),
    withAbsolutePaths(flagsLayer(input.flags), fromWorkingDir),
  ]
  return { layers, configFile }
}

/** Where settings come from: `default`, or the place of a key in the config file, the environment or the flags. */
export function originOf(input: SettingsInput): (path: KeyPath) => string {
  const { layers } = layersOf(input)
  return (path) => {
    const index = layers.findLastIndex(({ tree }) => valueAt(tree, path) !== undefined)
    return index <= 0 ? 'default' : (layers[index]?.placeOf(path) ?? 'default')
  }
}

/** Fills in the defaults that depend on the platform. */
function settle(tree: SettingsTree, configFile: string, { env, platform, homeDir }: Surroundings): Settings {
  const { $schema: _, ...given } = tree
  const dataDir = tree.dataDir ?? defaultDataDir(platform, env, homeDir)
  const { userDirs, homes } = tree.cursor
  return {
    ...given,
    cursor: {
      userDirs: userDirs ?? discoverCursorUserDirs(platform, env, homeDir),
      userDirsExplicit: userDirs !== null,
      homes: homes ?? defaultCursorHomes(platform, env, homeDir),
      homesExplicit: homes !== null,
    },
    dataDir,
    configFile,
    exclude: { projects: tree.exclude.projects.map(withHome(homeDir)) },
    archives: { ...tree.archives, dir: tree.archives.dir ?? pathsOf(platform).join(dataDir, 'archives') },
    hub: { ...tree.hub, machine: tree.hub.machine ?? hostname() },
  }
}

/** Replaces a leading `~/` by the home folder. Names stay as they are. */
const withHome =
  (homeDir: string) =>
  (pattern: string): string =>
    /^~[\\/]/.test(pattern) ? `${homeDir}${pattern.slice(1)}` : pattern

function namedConfig({ flags, env }: SettingsInput): string | null {
  if (flags.config === undefined) return env[CONFIG_VARIABLE] || null
  if (flags.config.trim() !== '') return flags.config
  throw new UserError('bad-setting', 'The config file is "" (flag --config).', 'It must be a path.', { exitCode: 2 })
}

const CONFIG_BYTES_MAX = 1024 * 1024

function readConfig(file: string, isNamed: boolean): string {
  try {
    return readRegular(file, CONFIG_BYTES_MAX).toString()
  } catch (error) {
    if (error instanceof RefusedFile)
      throw new UserError('config-unreadable', error.message, error.hint, { exitCode: 2 })
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    if (isMissing && !isNamed) return ''
    throw new UserError(
      isMissing ? 'config-missing' : 'config-unreadable',
      isMissing ? `There is no config file at ${file}.` : `The config file ${file} cannot be read (${code}).`,
      `Create it or make it readable, or name another one with --config or ${CONFIG_VARIABLE}.`,
      { exitCode: 2, cause: error },
    )
  }
}

function defaultLayer(): Layer {
  // The relative path is the same from src/settings and from dist/settings.
  const file = fileURLToPath(new URL('../../config/default.json', import.meta.url))
  return configLayer(readFileSync(file, 'utf8'), file)
}

function absoluteFrom(folder: string, { platform, homeDir }: Surroundings): (path: string) => string {
  const paths = pathsOf(platform)
  return (path) => {
    if (path === '~') return homeDir
    const below = platform === 'win32' ? /^~[\\/](.*)$/s : /^~\/(.*)$/s
    const tail = below.exec(path)?.[1]
    return tail === undefined ? paths.resolve(folder, path) : paths.join(homeDir, tail)
  }
}

const PATHS = [['dataDir'], ['cursor', 'userDirs'], ['cursor', 'homes'], ['archives', 'dir']]

/** Resolves paths. Values of other types stay unchanged; the schema rejects them. */
function withAbsolutePaths({ tree, placeOf }: Layer, absolute: (path: string) => string): Layer {
  const one = (given: unknown) => (typeof given === 'string' && given.trim() !== '' ? absolute(given) : given)
  const resolved = PATHS.map((path) => ({ path, given: valueAt(tree, path) }))
    .filter(({ given }) => given !== undefined)
    .reduce(
      (all, { path, given }) => layOver(all, treeOf(path, Array.isArray(given) ? given.map(one) : one(given))),
      tree,
    )
  return { tree: resolved, placeOf }
}

export interface DemoFolders {
  readonly userDir: string
  readonly dataDir: string
}

/**
 * The settings of a demo. It uses folders of its own, unless a flag or the environment names a data folder, and any free
 * port, unless a flag names one.
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
