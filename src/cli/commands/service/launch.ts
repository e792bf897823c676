import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import { loadSettings, type Environment, type Flags, type Settings, type Surroundings } from '../../../settings.ts'

/** How the service manager starts the daemon. */
export interface Launch {
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of the program. */
  readonly script: string
  /** The settings that were given to `service install`. Their paths are absolute. */
  readonly flags: Flags
  /** Variables that the service needs, and that the manager may not have. */
  readonly env: Readonly<Record<string, string>>
  /** The address that the daemon listens on. */
  readonly host: string
}

/**
 * Settings from flags and from `CURSORDEX_…` variables become flags of the service, because the manager does not have the
 * variables of this shell. The config file is read by the daemon itself.
 * @throws UserError `temporary-install` if this program is in a folder that npx removes
 */
export function launchOf(settings: Settings, given: Flags, { env, platform }: Surroundings): Launch {
  const names = platform === 'win32' ? ['node.exe'] : ['node']
  const folders = (env['PATH'] ?? '').split(platform === 'win32' ? ';' : ':').filter((folder) => folder !== '')
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, name)))
  return {
    node: stablePath(process.execPath, onPath),
    script: stablePath(process.argv[1] ?? '', [resolve(process.argv[1] ?? '')]),
    flags: flagsFrom(settings, given, env),
    env: platform === 'linux' ? xdgOf(env) : {},
    host: settings.http.host,
  }
}

/**
 * A link to the file is preferred, if there is one: the links of npm and Homebrew stay valid after an upgrade, the real path
 * may contain a version. Version managers such as nvm have no such link.
 */
function stablePath(path: string, links: readonly string[]): string {
  const real = realpathSync(path)
  if (TEMPORARY.test(real)) {
    throw new UserError(
      'temporary-install',
      `This program is in a temporary folder of npx (${dirname(real)}), which npm removes.`,
      'Install it first: npm install --global cursordex',
    )
  }
  return links.find((link) => resolve(link) === link && !TEMPORARY.test(link) && leadsTo(link, real)) ?? real
}

/** Folders of npx, of its counterparts, and of fnm, which makes one for each shell. */
const TEMPORARY = /[/\\](_npx|dlx(-[^/\\]*)?|bunx-[^/\\]*|fnm_multishells)[/\\]/

function leadsTo(link: string, real: string): boolean {
  try {
    return realpathSync(link) === real
  } catch {
    // There is no such file.
    return false
  }
}

/** Values that neither a flag nor a variable sets are left out. */
function flagsFrom({ cursor, dataDir, configFile, http, log, auth }: Settings, given: Flags, env: Environment): Flags {
  const isGiven = (flag: keyof Flags, variable: string) => given[flag] !== undefined || Boolean(env[variable])
  // An empty list means none.
  const isListGiven = (flag: keyof Flags, variable: string) => isGiven(flag, variable) || env[variable] === ''
  const { host, port, publicUrl } = http
  return {
    ...(isGiven('config', 'CURSORDEX_CONFIG') ? { config: configFile } : {}),
    ...(isGiven('dataDir', 'CURSORDEX_DATA_DIR') ? { dataDir } : {}),
    ...(isListGiven('cursorUserDir', 'CURSORDEX_CURSOR_USER_DIRS') ? { cursorUserDir: cursor.userDirs } : {}),
    ...(isListGiven('cursorHome', 'CURSORDEX_CURSOR_HOMES') ? { cursorHome: cursor.homes } : {}),
    ...(isGiven('host', 'CURSORDEX_HOST') ? { host } : {}),
    ...(isGiven('port', 'CURSORDEX_PORT') ? { port: String(port) } : {}),
    ...(isGiven('publicUrl', 'CURSORDEX_PUBLIC_URL') && publicUrl !== null ? { publicUrl } : {}),
    ...(isGiven('logLevel', 'CURSORDEX_LOG_LEVEL') ? { logLevel: log.level } : {}),
    ...(isGiven('auth', 'CURSORDEX_AUTH') && auth.required ? { auth: true } : {}),
  }
}

const one = (option: string, value: string | undefined) => (value === undefined ? [] : [option, value])

/** An empty list means none, unlike a missing one. */
const many = (option: string, values: readonly string[] | undefined) =>
  values?.length === 0 ? [option, ''] : (values ?? []).flatMap((value) => [option, value])

/** The arguments of Node. */
export function argumentsOf({ script, flags }: Launch): string[] {
  return [
    script,
    'serve',
    ...one('--config', flags.config),
    ...one('--data-dir', flags.dataDir),
    ...many('--cursor-user-dir', flags.cursorUserDir),
    ...many('--cursor-home', flags.cursorHome),
    ...one('--host', flags.host),
    ...one('--port', flags.port),
    ...one('--public-url', flags.publicUrl),
    ...one('--log-level', flags.logLevel),
    ...(flags.auth === true ? ['--auth'] : []),
  ]
}

/** Where Linux programs look for folders. The manager starts before the files of the shell are read. */
function xdgOf(env: Environment): Record<string, string> {
  return Object.fromEntries(
    ['XDG_CONFIG_HOME', 'XDG_DATA_HOME'].flatMap((name) => {
      const folder = env[name]
      return folder?.startsWith('/') === true ? [[name, folder]] : []
    }),
  )
}

const MARK = 'cursordex-flags:'

/** A line for a comment in the installed file. The other commands read the service's settings from it. */
export const noteOf = ({ flags }: Launch): string => `${MARK} ${JSON.stringify(flags)}`

const text = z.optional(z.string())
const notedFlags = z.object({
  config: text,
  dataDir: text,
  cursorUserDir: z.optional(z.array(z.string())),
  cursorHome: z.optional(z.array(z.string())),
  host: text,
  port: text,
  publicUrl: text,
  logLevel: text,
  auth: z.optional(z.boolean()),
})

/**
 * The settings of the installed service, from its file. Null if the file has no readable note.
 * @throws UserError as `loadSettings` does, if the config file is wrong by now
 */
export function settingsFrom(file: string, surroundings: Surroundings): Settings | null {
  const noted = new RegExp(`${MARK} (\\{.*\\})`).exec(file)?.[1]
  if (noted === undefined) return null
  const { success, data: flags } = z.safeParse(notedFlags, jsonOf(noted))
  if (!success) return null
  const own = Object.entries(surroundings.env).filter(([name]) => !name.startsWith('CURSORDEX_'))
  return loadSettings({ ...surroundings, env: Object.fromEntries(own), flags })
}

function jsonOf(noted: string): unknown {
  try {
    return JSON.parse(noted)
  } catch {
    // Somebody edited the note.
    return undefined
  }
}
