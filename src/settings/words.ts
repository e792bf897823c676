import { UserError } from '../model/user-error.ts'
import type { Environment } from './folders.ts'
import { layOver, treeOf, valueAt, type Layer } from './judge.ts'
import type { Settings } from './load.ts'

/** Settings from the command line. `undefined` means not given. */
export interface Flags {
  readonly cursorUserDir?: readonly string[] | undefined
  readonly cursorHome?: readonly string[] | undefined
  readonly dataDir?: string | undefined
  readonly config?: string | undefined
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly publicUrl?: string | undefined
  readonly logLevel?: string | undefined
  readonly auth?: boolean | undefined
  readonly hubUrl?: string | undefined
}

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
