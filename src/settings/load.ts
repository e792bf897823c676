import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { UserError } from '../model/user-error.ts'
import { readRegular, RefusedFile } from '../regular-file.ts'
import { configLayer, judge, layOver, treeOf, valueAt, type KeyPath, type Layer } from './config-text.ts'
import * as folders from './folders.ts'
import { pathsOf, type Environment } from './folders.ts'
import type { SettingsTree } from './schema.ts'

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
  const configFile = named === null ? folders.defaultConfigFile(platform, env, homeDir) : fromWorkingDir(named)
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
function settle(tree: SettingsTree, configFile: string, input: Surroundings): Settings {
  const { env, platform, homeDir } = input
  const { $schema: _, ...given } = tree
  const dataDir = tree.dataDir ?? folders.defaultDataDir(platform, env, homeDir)
  const { userDirs, homes } = tree.cursor
  return {
    ...given,
    cursor: {
      userDirs: userDirs ?? folders.discoverCursorUserDirs(platform, env, homeDir),
      userDirsExplicit: userDirs !== null,
      homes: homes ?? folders.defaultCursorHomes(platform, env, homeDir),
      homesExplicit: homes !== null,
    },
    dataDir,
    configFile,
    exclude: { projects: tree.exclude.projects.map((pattern) => withHome(pattern, input)) },
    archives: { ...tree.archives, dir: tree.archives.dir ?? pathsOf(platform).join(dataDir, 'archives') },
    hub: { ...tree.hub, machine: tree.hub.machine ?? hostname() },
  }
}

/** Replaces a leading `~/` by the home folder. Other names stay as they are. */
const withHome = (given: string, { platform, homeDir }: Surroundings): string =>
  (platform === 'win32' ? /^~[\\/]/ : /^~\//).test(given) ? `${homeDir}${given.slice(1)}` : given

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

const absoluteFrom =
  (folder: string, input: Surroundings) =>
  (path: string): string =>
    path === '~' ? input.homeDir : pathsOf(input.platform).resolve(folder, withHome(path, input))

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
export function demoSettings(input: SettingsInput, demo: DemoFolders): Settings {
  const { flags, env, platform } = input
  const isDataDirNamed = flags.dataDir !== undefined || Boolean(env[DATA_DIR_VARIABLE])
  const settings = loadSettings({
    ...input,
    flags: {
      ...flags,
      cursorUserDir: [demo.userDir],
      cursorHome: [],
      ...(isDataDirNamed ? {} : { dataDir: demo.dataDir }),
      port: flags.port ?? '0',
    },
  })
  const { dataDir, archives } = settings
  return { ...settings, archives: { ...archives, dir: pathsOf(platform).join(dataDir, 'archives') } }
}

/** Settings from the command line. `undefined` means not given. */
export type Flags = {
  readonly [Name in 'cursorUserDir' | 'cursorHome']?: readonly string[] | undefined
} & {
  readonly [Name in 'dataDir' | 'config' | 'host' | 'port' | 'publicUrl' | 'logLevel' | 'hubUrl']?: string | undefined
} & { readonly auth?: boolean | undefined }

interface Setting {
  readonly path: readonly string[]
  readonly flag: Exclude<keyof Flags, 'config'>
  readonly variable: string
  readonly isList?: true
}

export const CONFIG_VARIABLE = 'CURSORDEX_CONFIG'
export const DATA_DIR_VARIABLE = 'CURSORDEX_DATA_DIR'

/** The settings that are also flags and variables. */
const settings: readonly Setting[] = [
  { path: ['dataDir'], flag: 'dataDir', variable: DATA_DIR_VARIABLE },
  { path: ['cursor', 'userDirs'], flag: 'cursorUserDir', variable: 'CURSORDEX_CURSOR_USER_DIRS', isList: true },
  { path: ['cursor', 'homes'], flag: 'cursorHome', variable: 'CURSORDEX_CURSOR_HOMES', isList: true },
  { path: ['http', 'host'], flag: 'host', variable: 'CURSORDEX_HOST' },
  { path: ['http', 'port'], flag: 'port', variable: 'CURSORDEX_PORT' },
  { path: ['http', 'publicUrl'], flag: 'publicUrl', variable: 'CURSORDEX_PUBLIC_URL' },
  { path: ['log', 'level'], flag: 'logLevel', variable: 'CURSORDEX_LOG_LEVEL' },
  { path: ['auth', 'required'], flag: 'auth', variable: 'CURSORDEX_AUTH' },
  { path: ['hub', 'url'], flag: 'hubUrl', variable: 'CURSORDEX_HUB_URL' },
]

/** `cursorUserDir` is `--cursor-user-dir`. */
const optionOf = ({ flag }: Setting): string => `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** A number or a truth where the setting is one. Any other word stays, and the schema refuses it. */
function read({ flag }: Setting, word: string): unknown {
  if (flag === 'port') return /^\d{1,15}$/.test(word.trim()) ? Number(word) : word
  return flag === 'auth' ? (truths.get(word.trim().toLowerCase()) ?? word) : word
}

/**
 * Settings from `CURSORDEX_…` variables. Lists are separated like PATH on this system, and an empty list means none. Any
 * other empty variable counts as not set, as usual in shells.
 * @throws UserError `unknown-setting` for an unknown variable
 */
export function environmentLayer(env: Environment, delimiter: string): Layer {
  const known = [...settings.map(({ variable }) => variable), CONFIG_VARIABLE]
  const unknown = Object.keys(env).find(
    (name) => name.startsWith('CURSORDEX_') && env[name] !== undefined && !known.includes(name),
  )
  if (unknown !== undefined) {
    const text = `The environment variable ${unknown} is not a setting of cursordex.`
    throw new UserError('unknown-setting', text, `Unset it. Allowed variables: ${known.join(', ')}.`, { exitCode: 2 })
  }
  const given = (setting: Setting): unknown => {
    const word = env[setting.variable]
    if (setting.isList) return word === undefined ? word : listed(word.split(delimiter))
    return word ? read(setting, word) : undefined
  }
  return layerOf(given, ({ variable }) => `environment variable ${variable}`)
}

export function flagsLayer(flags: Flags): Layer {
  const given = (setting: Setting): unknown => {
    const word = flags[setting.flag]
    return typeof word === 'string' ? read(setting, word) : typeof word === 'object' ? listed(word) : word
  }
  return layerOf(given, (setting) => `flag ${optionOf(setting)}`)
}

/**
 * The flags that give another process, which has no such variables, the settings that flags and variables gave here. A
 * service keeps them in a file that others may read, so the address of the hub, which may have a password, is not among
 * them.
 * @param effective of these flags and variables. Its paths are absolute
 */
export function flagsFor(given: Flags, env: Environment, effective: Settings): string[] {
  const isNamed = given.config !== undefined || Boolean(env[CONFIG_VARIABLE])
  const flags = settings.flatMap((setting) => {
    const { path, flag, variable, isList } = setting
    const isGiven = given[flag] !== undefined || Boolean(env[variable]) || (isList && env[variable] === '')
    if (!isGiven || flag === 'hubUrl') return []
    const value = valueAt(effective, path)
    if (typeof value === 'boolean' || value === null) return value === true ? [optionOf(setting)] : []
    // An empty list means none.
    const values: readonly unknown[] = Array.isArray(value) && value.length === 0 ? [''] : [value].flat()
    return values.flatMap((each) => [optionOf(setting), String(each)])
  })
  return isNamed ? ['--config', effective.configFile, ...flags] : flags
}

const listed = (words: readonly string[]) => words.filter((word) => word.trim() !== '')

/** @param valueOf undefined if a setting is not given */
function layerOf(valueOf: (setting: Setting) => unknown, nameOf: (setting: Setting) => string): Layer {
  const given = settings.filter((setting) => valueOf(setting) !== undefined)
  return {
    tree: given.reduce<unknown>((tree, setting) => layOver(tree, treeOf(setting.path, valueOf(setting))), {}),
    placeOf: (path) =>
      given
        .filter((setting) => setting.path.join('.') === path.join('.'))
        .map(nameOf)
        .join(', '),
  }
}
