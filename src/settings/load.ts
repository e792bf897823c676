import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { UserError } from '../model/user-error.ts'
import { configLayer } from './config-text.ts'
import {
  defaultConfigFile,
  defaultCursorHomes,
  defaultDataDir,
  discoverCursorUserDirs,
  pathsOf,
  type Environment,
} from './folders.ts'
import { isTree, type KeyPath, type Layer } from './layer.ts'
import { judge } from './judge.ts'
import type { ArchiveJob, LogLevel, SettingsTree, SourceKind } from './schema.ts'
import { CONFIG_VARIABLE, environmentLayer, flagsLayer, type Flags, DATA_DIR_VARIABLE } from './words.ts'

export interface Settings {
  readonly cursor: {
    readonly userDirs: readonly string[]
    /** Named by the user, who then wants these and no others. */
    readonly userDirsExplicit: boolean
    readonly homes: readonly string[]
    readonly homesExplicit: boolean
  }
  readonly dataDir: string
  /** Where the config file was looked for; it need not exist. */
  readonly configFile: string
  readonly http: { readonly host: string; readonly port: number }
  readonly log: { readonly level: LogLevel }
  readonly sources: Readonly<Record<SourceKind, { readonly enabled: boolean }>>
  readonly auth: { readonly required: boolean }
  readonly search: { readonly deadlineMs: number }
  readonly tokens: { readonly estimate: boolean }
  readonly archives: { readonly dir: string; readonly jobs: readonly ArchiveJob[] }
}

/** The kinds of sources that are switched off. */
export const disabledKindsOf = ({ sources }: Settings): string[] =>
  Object.entries(sources).flatMap(([kind, { enabled }]) => (enabled ? [] : [kind]))

/** What the settings depend on besides the flags. */
export interface Surroundings {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  readonly homeDir: string
  /** Relative paths of flags and variables count from here. */
  readonly workingDir?: string
}

export interface SettingsInput extends Surroundings {
  readonly flags: Flags
  /** The config file's text, where it is known already: the file is then not read. */
  readonly configText?: string
}

/**
 * The settings in force: shipped defaults, under the config file, under the environment, under the flags. All paths
 * come out absolute; a leading `~` stands for the home folder, and relative paths of the config file count from its
 * folder.
 * @throws UserError with exit code 2 that names the key, where it stands and what it may be
 */
export function loadSettings(input: SettingsInput): Settings {
  const { env, platform, homeDir } = input
  const paths = pathsOf(platform)
  const fromWorkingDir = absoluteFrom(input.workingDir ?? process.cwd(), input)
  const named = namedConfig(input)
  const configFile = named === null ? defaultConfigFile(platform, env, homeDir) : fromWorkingDir(named)
  const text = input.configText ?? readConfig(configFile, named !== null)
  const tree = judge([
    defaultLayer(),
    withAbsolutePaths(configLayer(text, configFile), absoluteFrom(paths.dirname(configFile), input)),
    withAbsolutePaths(environmentLayer(env, paths.delimiter), fromWorkingDir),
    withAbsolutePaths(flagsLayer(input.flags), fromWorkingDir),
  ])
  return settle(tree, configFile, input)
}

/** Fills in what is to be found for this system. */
function settle(tree: SettingsTree, configFile: string, { env, platform, homeDir }: Surroundings): Settings {
  const dataDir = tree.dataDir ?? defaultDataDir(platform, env, homeDir)
  const { userDirs, homes } = tree.cursor
  return {
    cursor: {
      userDirs: userDirs ?? discoverCursorUserDirs(platform, env, homeDir),
      userDirsExplicit: userDirs !== null,
      homes: homes ?? defaultCursorHomes(platform, homeDir),
      homesExplicit: homes !== null,
    },
    dataDir,
    configFile,
    http: tree.http,
    log: tree.log,
    sources: tree.sources,
    auth: tree.auth,
    search: tree.search,
    tokens: tree.tokens,
    archives: { dir: tree.archives.dir ?? pathsOf(platform).join(dataDir, 'archives'), jobs: tree.archives.jobs },
  }
}

function namedConfig({ flags, env }: SettingsInput): string | null {
  if (flags.config === undefined) return env[CONFIG_VARIABLE] || null
  if (flags.config.trim() !== '') return flags.config
  throw new UserError('bad-setting', 'The config file is "" (flag --config).', 'It must be a path.', { exitCode: 2 })
}

function readConfig(file: string, isNamed: boolean): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    if (isMissing && !isNamed) return ''
    throw new UserError(
      isMissing ? 'config-missing' : 'config-unreadable',
      isMissing ? `There is no config file at ${file}.` : `The config file ${file} cannot be read (${code}).`,
      `Make it readable, or name another with --config or ${CONFIG_VARIABLE}.`,
      { exitCode: 2, cause: error },
    )
  }
}

/** Where the config file sets a key: for whoever finds a value wrong by rules that the settings do not know. */
export function placeInConfig(file: string, path: KeyPath): string {
  try {
    return configLayer(readFileSync(file, 'utf8'), file).placeOf(path)
  } catch {
    // It was read a moment ago; without it the file alone is named.
    return file
  }
}

function defaultLayer(): Layer {
  // The same way up from src/settings and from dist/settings.
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

/** Resolves what is a path; what is none is left for the schema to refuse. */
function withAbsolutePaths(layer: Layer, absolute: (path: string) => string): Layer {
  const one = (given: unknown) => (typeof given === 'string' && given.trim() !== '' ? absolute(given) : given)
  const many = (given: unknown) => (Array.isArray(given) ? given.map(one) : given)
  const root = within(layer.tree, { dataDir: one })
  const cursor = { cursor: (given: unknown) => within(given, { userDirs: many, homes: many }) }
  const tree = within(within(root, cursor), { archives: (given) => within(given, { dir: one }) })
  return { tree, placeOf: layer.placeOf }
}

function within(tree: unknown, changes: Readonly<Record<string, (given: unknown) => unknown>>): unknown {
  if (!isTree(tree)) return tree
  return Object.fromEntries(
    Object.entries(tree).map(([key, given]) => {
      const change = Object.hasOwn(changes, key) ? changes[key] : undefined
      return [key, change === undefined ? given : change(given)]
    }),
  )
}

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
