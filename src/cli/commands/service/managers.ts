import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, win32 } from 'node:path'
import { UserError } from '../../../model/user-error.ts'
import { defaultConfigFile, type Surroundings } from '../../../settings.ts'
import type { Launch } from './launch.ts'

/** A program and its arguments. */
export type CommandLine = readonly string[]

/** What starts programs at login on one system. */
export interface Manager {
  readonly name: string
  /** The file that describes the service. */
  readonly file: string
  readonly render: (launch: Launch) => string
  readonly encoding: 'utf8' | 'utf16le'
  /** It succeeds where the manager runs, which it does not in a container. */
  readonly probe: CommandLine
  /** Null if the manager does not know the service. */
  readonly state: () => State | null
  /** These make it read the file, start the service now, and start it at each login. */
  readonly start: readonly CommandLine[]
  readonly stop: readonly CommandLine[]
  readonly restart: readonly CommandLine[]
  /** Follows the log. Null if the manager keeps none. */
  readonly follow: CommandLine | null
  readonly logFile: string | null
}

export interface State {
  /** For people. */
  readonly summary: string
  /** Null if it does not run. */
  readonly pid: number | null | 'unknown'
  /** True if it ended and is not started again. */
  readonly hasFailed: boolean
}

/** @returns a null status if the program is missing or was killed */
export function runTool([program = '', ...args]: CommandLine, env: Surroundings['env']) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, windowsHide: true })
  // Both are null if the program is missing.
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** @throws UserError `no-service` on other systems */
export function managerOf(surroundings: Surroundings): Manager {
  if (surroundings.platform === 'linux') return systemd(surroundings)
  if (surroundings.platform === 'darwin') return launchd(surroundings)
  if (surroundings.platform === 'win32') return scheduledTask(surroundings)
  throw new UserError(
    'no-service',
    `cursordex cannot install a service on ${surroundings.platform}.`,
    'Let your system start "cursordex serve".',
  )
}

/** The text of a template with its `{{words}}` replaced. The build copies the templates beside its chunks. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(new URL(`templates/${template}`, import.meta.url), 'utf8')
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
}

const valueIn = (text: string, pattern: RegExp): string | null => pattern.exec(text)?.[1] || null

const systemctl = (...args: readonly string[]): CommandLine => ['systemctl', '--user', ...args]

/** The user's systemd. It starts the daemon at login, or at boot if lingering is on. */
function systemd({ env, homeDir }: Surroundings): Manager {
  const unit = 'cursordex.service'
  const named = env['XDG_CONFIG_HOME']
  const folder = join(named?.startsWith('/') === true ? named : join(homeDir, '.config'), 'systemd', 'user')
  return {
    name: 'systemd user manager',
    file: join(folder, unit),
    render: ({ words: [node = '', ...args], note, host }) => {
      // Where Linux programs look for folders. The manager starts before the files of the shell are read.
      const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME'].filter((name) => env[name]?.startsWith('/'))
      return fill('linux.service', {
        note,
        // Unlike an argument, the path of the program may contain a single $.
        command: [inUnit(node), ...args.map((word) => inUnit(word).replaceAll('$', '$$$$'))].join(' '),
        environment: folders.map((name) => `Environment=${inUnit(`${name}=${env[name] ?? ''}`)}\n`).join(''),
        // The daemon lists the addresses of the machine only if it listens beyond loopback. Linux answers over netlink.
        netlink: ['127.0.0.1', 'localhost', '::1'].includes(host.toLowerCase()) ? '' : ' AF_NETLINK',
      })
    },
    encoding: 'utf8',
    probe: systemctl('show-environment'),
    state: () => {
      const { stdout } = runTool(
        systemctl('show', '--property=LoadState,ActiveState,SubState,MainPID,UnitFileState', unit),
        env,
      )
      const value = (name: string) => valueIn(stdout, new RegExp(`^${name}=(.*)$`, 'm'))
      if (value('LoadState') === 'not-found') return null
      const [active, sub] = [value('ActiveState') ?? 'unknown', value('SubState') ?? 'unknown']
      const summary = `${active} (${sub}), ${value('UnitFileState') ?? 'not enabled'}`
      return { summary, pid: Number(value('MainPID')) || null, hasFailed: active === 'failed' }
    },
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    stop: [systemctl('disable', '--now', unit)],
    restart: [systemctl('restart', unit)],
    follow: ['journalctl', '--user', '--unit', unit, '--lines', '100', '--no-pager', '--follow'],
    logFile: null,
  }
}

/** A word in double quotes. systemd reads backslashes as in C, and % as the start of a specifier. */
const inUnit = (word: string): string =>
  `"${word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('%', '%%')
    .replaceAll(/\p{Cc}/gu, (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`

/** An agent of macOS. It starts the daemon at login. */
function launchd({ env, homeDir }: Surroundings): Manager {
  const domain = `gui/${userInfo().uid}`
  const target = `${domain}/cursordex`
  const file = join(homeDir, 'Library', 'LaunchAgents', 'cursordex.plist')
  const logFile = join(homeDir, 'Library', 'Logs', 'cursordex.log')
  return {
    name: 'launchd session',
    file,
    render: ({ words, note }) =>
      fill('macos.plist', {
        note: inComment(note),
        words: words.map((word) => `    <string>${inXml(word)}</string>\n`).join(''),
        log: inXml(logFile),
      }),
    encoding: 'utf8',
    probe: ['launchctl', 'print', domain],
    state: () => {
      const { status, stdout } = runTool(['launchctl', 'print', target], env)
      const pid = Number(valueIn(stdout, /^\s*pid = (\d+)$/m)) || null
      return status === 0 ? { summary: valueIn(stdout, /^\s*state = (.+)$/m) ?? 'loaded', pid, hasFailed: false } : null
    },
    start: [
      ['launchctl', 'enable', target],
      ['launchctl', 'bootstrap', domain, file],
    ],
    stop: [['launchctl', 'bootout', target]],
    restart: [['launchctl', 'kickstart', '-k', target]],
    follow: ['tail', '-n', '100', '-F', logFile],
    logFile,
  }
}

const schtasks = (verb: string, ...args: readonly string[]): CommandLine => [
  'schtasks',
  `/${verb}`,
  '/tn',
  'cursordex',
  ...args,
]

/** A scheduled task of Windows. It starts the daemon at logon, with the user's own rights. */
function scheduledTask({ env, homeDir }: Surroundings): Manager {
  const file = win32.join(win32.dirname(defaultConfigFile('win32', env, homeDir)), 'service.xml')
  const user = [env['USERDOMAIN'], env['USERNAME']].filter(Boolean).join('\\')
  // A task that does not run cannot be ended, which is no failure.
  const end = ['cmd', '/d', '/c', 'schtasks /end /tn cursordex & exit 0']
  return {
    name: 'task scheduler',
    file,
    render: ({ words, note }) =>
      // A file in UTF-16, as its first line says, begins with a byte order mark.
      `\uFEFF${fill('windows.xml', {
        note: inComment(note),
        user: user === '' ? '' : `      <UserId>${inXml(user)}</UserId>\n`,
        command: words.map((word) => inXml(inWindows(word))).join(' '),
      })}`,
    encoding: 'utf16le',
    probe: ['schtasks', '/query', '/?'],
    // The state is in the language of the system, and the process is not reported.
    state: () =>
      runTool(schtasks('query'), env).status === 0 ? { summary: 'registered', pid: 'unknown', hasFailed: false } : null,
    start: [schtasks('create', '/xml', file, '/f'), schtasks('run')],
    stop: [end, schtasks('delete', '/f')],
    restart: [end, schtasks('run')],
    follow: null,
    logFile: null,
  }
}

/** A word as Windows programs read it: a backslash is only special before a quote. */
const inWindows = (word: string): string =>
  `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/\\+$/, '$&$&')}"`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** @throws UserError `bad-path` for characters that XML cannot express */
function inXml(text: string): string {
  if (/\p{Cc}/u.test(text)) {
    throw new UserError('bad-path', `The path ${text} contains a control character.`, 'Rename the folder.')
  }
  return text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}

/** JSON in a comment of XML, in which two hyphens are not allowed. JSON can write them as escapes. */
const inComment = (note: string): string => note.replace(/\{.*\}/, (json) => json.replaceAll('-', String.raw`\u002d`))
