import { UserError } from '../model/user-error.ts'
import type { Environment } from './folders.ts'
import type { Layer } from './layer.ts'
import type { Settings } from './load.ts'
import { nearestName } from '../text/nearest-name.ts'

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
  readonly group: string | null
  readonly key: string
  readonly flag: Exclude<keyof Flags, 'config'>
  readonly option: string
  readonly variable: string
  readonly read: (word: string) => unknown
}

const asIs = (word: string) => word
const asNumber = (word: string) => (/^\d{1,15}$/.test(word.trim()) ? Number(word) : word)

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
}

function asBoolean(word: string): unknown {
  const name = word.trim().toLowerCase()
  return Object.hasOwn(truths, name) ? truths[name] : word
}

const lists: ReadonlySet<Setting['flag']> = new Set(['cursorUserDir', 'cursorHome'])

export const DATA_DIR_VARIABLE = 'CURSORDEX_DATA_DIR'

const settings: readonly Setting[] = [
  { group: null, key: 'dataDir', flag: 'dataDir', option: '--data-dir', variable: DATA_DIR_VARIABLE, read: asIs },
  {
    group: 'cursor',
    key: 'userDirs',
    flag: 'cursorUserDir',
    option: '--cursor-user-dir',
    variable: 'CURSORDEX_CURSOR_USER_DIRS',
    read: asIs,
  },
  {
    group: 'cursor',
    key: 'homes',
    flag: 'cursorHome',
    option: '--cursor-home',
    variable: 'CURSORDEX_CURSOR_HOMES',
    read: asIs,
  },
  { group: 'http', key: 'host', flag: 'host', option: '--host', variable: 'CURSORDEX_HOST', read: asIs },
  { group: 'http', key: 'port', flag: 'port', option: '--port', variable: 'CURSORDEX_PORT', read: asNumber },
  {
    group: 'http',
    key: 'publicUrl',
    flag: 'publicUrl',
    option: '--public-url',
    variable: 'CURSORDEX_PUBLIC_URL',
    read: asIs,
  },
  {
    group: 'log',
    key: 'level',
    flag: 'logLevel',
    option: '--log-level',
    variable: 'CURSORDEX_LOG_LEVEL',
    read: asIs,
  },
  { group: 'auth', key: 'required', flag: 'auth', option: '--auth', variable: 'CURSORDEX_AUTH', read: asBoolean },
  { group: 'hub', key: 'url', flag: 'hubUrl', option: '--hub-url', variable: 'CURSORDEX_HUB_URL', read: asIs },
]

export const CONFIG_VARIABLE = 'CURSORDEX_CONFIG'

/**
 * Settings from `CURSORDEX_…` variables. Lists are separated like PATH on this system, and an empty list means none. Any
 * other empty variable counts as not set, as usual in shells.
 * @throws UserError `unknown-setting` for an unknown variable
 */
export function environmentLayer(env: Environment, delimiter: string): Layer {
  refuseUnknownVariables(env)
  const given = settings.flatMap((setting) => {
    const word = env[setting.variable]
    if (word === undefined) return []
    if (lists.has(setting.flag)) return [{ setting, value: listed(word.split(delimiter)) }]
    return word === '' ? [] : [{ setting, value: setting.read(word) }]
  })
  return layerOf(given, (setting) => `environment variable ${setting.variable}`)
}

export function flagsLayer(flags: Flags): Layer {
  const given = settings.flatMap((setting) => {
    const word = flags[setting.flag]
    if (word === undefined) return []
    if (typeof word === 'boolean') return [{ setting, value: word }]
    return [{ setting, value: typeof word === 'string' ? setting.read(word) : listed(word) }]
  })
  return layerOf(given, (setting) => `flag ${setting.option}`)
}

/**
 * The flags that give another process, which has no such variables, the settings that flags and variables gave here. A
 * service keeps them in a file that others may read, so the address of the hub, which may have a password, is not among
 * them.
 * @param effective of these flags and variables. Its paths are absolute
 */
export function flagsFor(given: Flags, env: Environment, effective: Settings): string[] {
  const isNamed = given.config !== undefined || Boolean(env[CONFIG_VARIABLE])
  const flags = settings.flatMap(({ group, key, flag, option, variable }) => {
    const isGiven = given[flag] !== undefined || Boolean(env[variable]) || (lists.has(flag) && env[variable] === '')
    if (!isGiven || flag === 'hubUrl') return []
    const tree = effective as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>
    const value = group === null ? tree[key] : tree[group]?.[key]
    if (typeof value === 'boolean' || value === null) return value === true ? [option] : []
    // An empty list means none.
    const values: readonly unknown[] = Array.isArray(value) && value.length === 0 ? [''] : [value].flat()
    return values.flatMap((each) => [option, String(each)])
  })
  return isNamed ? ['--config', effective.configFile, ...flags] : flags
}

const listed = (words: readonly string[]) => words.filter((word) => word.trim() !== '')

interface Given {
  readonly setting: Setting
  readonly value: unknown
}

function layerOf(given: readonly Given[], nameOf: (setting: Setting) => string): Layer {
  const tree: Record<string, unknown> = {}
  for (const { setting, value } of given) {
    const { group, key } = setting
    if (group === null) tree[key] = value
    else tree[group] = { ...(tree[group] as object | undefined), [key]: value }
  }
  return {
    tree,
    placeOf: (path) => {
      const dotted = path.join('.')
      const one = settings.find(({ group, key }) => dotted === (group === null ? key : `${group}.${key}`))
      return one === undefined ? dotted : nameOf(one)
    },
  }
}

function refuseUnknownVariables(env: Environment): void {
  const known = [...settings.map((setting) => setting.variable), CONFIG_VARIABLE]
  for (const name of Object.keys(env)) {
    if (!name.startsWith('CURSORDEX_') || env[name] === undefined || known.includes(name)) continue
    const near = nearestName(name, known)
    throw new UserError(
      'unknown-setting',
      `The environment variable ${name} is not a setting of cursordex.`,
      near === null ? `Unset it. Allowed variables: ${known.join(', ')}.` : `Did you mean ${near}?`,
      { exitCode: 2 },
    )
  }
}
