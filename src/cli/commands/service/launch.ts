import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import { loadSettings, type Flags, type Settings, type Surroundings } from '../../../settings.ts'

/** How the service manager starts the daemon. */
export interface Launch {
  /** Absolute paths of Node and of the program, and the program's arguments. */
  readonly words: readonly string[]
  /** A line for a comment in the installed file. The other commands read the service's settings from it. */
  readonly note: string
  /** The address that the daemon listens on. */
  readonly host: string
}

const MARK = 'cursordex-flags:'

/** The settings that a service keeps, where they were given. Paths are absolute. */
const KEPT: readonly (readonly [flag: keyof Flags, variable: string, read: (settings: Settings) => unknown])[] = [
  ['config', 'CURSORDEX_CONFIG', ({ configFile }) => configFile],
  ['dataDir', 'CURSORDEX_DATA_DIR', ({ dataDir }) => dataDir],
  ['cursorUserDir', 'CURSORDEX_CURSOR_USER_DIRS', ({ cursor }) => cursor.userDirs],
  ['cursorHome', 'CURSORDEX_CURSOR_HOMES', ({ cursor }) => cursor.homes],
  ['host', 'CURSORDEX_HOST', ({ http }) => http.host],
  ['port', 'CURSORDEX_PORT', ({ http }) => String(http.port)],
  ['publicUrl', 'CURSORDEX_PUBLIC_URL', ({ http }) => http.publicUrl ?? undefined],
  ['logLevel', 'CURSORDEX_LOG_LEVEL', ({ log }) => log.level],
  ['auth', 'CURSORDEX_AUTH', ({ auth }) => auth.required || undefined],
]

/**
 * Settings from flags and from `CURSORDEX_…` variables become flags of the service, because the manager does not have the
 * variables of this shell. The config file is read by the daemon itself.
 * @throws UserError `temporary-install` if this program is in a folder that npx removes
 */
export function launchOf(settings: Settings, given: Flags, { env, platform }: Surroundings): Launch {
  const kept = KEPT.flatMap(([flag, variable, read]) => {
    const value = read(settings)
    // An empty list means none, and any other empty variable is not set.
    const isGiven =
      given[flag] !== undefined || Boolean(env[variable]) || (Array.isArray(value) && env[variable] === '')
    return isGiven && value !== undefined ? [[flag, value] as const] : []
  })
  const [delimiter, name] = platform === 'win32' ? [';', 'node.exe'] : [':', 'node']
  const onPath = (env['PATH'] ?? '').split(delimiter).flatMap((folder) => (folder === '' ? [] : join(folder, name)))
  const script = process.argv[1] ?? ''
  return {
    words: [
      stablePath(process.execPath, onPath),
      stablePath(script, [resolve(script)]),
      'serve',
      ...kept.flatMap(([flag, value]) => wordsOf(flag, value)),
    ],
    note: `${MARK} ${JSON.stringify(Object.fromEntries(kept))}`,
    host: settings.http.host,
  }
}

function wordsOf(flag: string, value: unknown): string[] {
  const option = `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (value === true) return [option]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.length === 0 ? [option, ''] : values.flatMap((each) => [option, String(each)])
}

/** Folders of npx, of its counterparts, and of fnm, which makes one for each shell. */
const TEMPORARY = /[/\\](_npx|dlx(-[^/\\]*)?|bunx-[^/\\]*|fnm_multishells)[/\\]/

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

function leadsTo(link: string, real: string): boolean {
  try {
    return realpathSync(link) === real
  } catch {
    // There is no such file.
    return false
  }
}

const noted = z.record(z.string(), z.union([z.string(), z.boolean(), z.array(z.string())]))

/**
 * The settings of the installed service, from its file. Null if the file has no readable note.
 * @throws UserError as `loadSettings` does, if the config file is wrong by now
 */
export function settingsFrom(file: string, surroundings: Surroundings): Settings | null {
  const json = new RegExp(`${MARK} (\\{.*\\})`).exec(file)?.[1]
  let flags: Flags
  try {
    flags = z.parse(noted, JSON.parse(json ?? ''))
  } catch {
    // Somebody edited the note.
    return null
  }
  const own = Object.entries(surroundings.env).filter(([name]) => !name.startsWith('CURSORDEX_'))
  return loadSettings({ ...surroundings, env: Object.fromEntries(own), flags })
}
