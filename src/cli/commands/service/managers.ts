import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, win32 } from 'node:path'
import { UserError } from '../../../model/user-error.ts'
import { defaultConfigFile, type Surroundings } from '../../../settings.ts'

/** A program and its arguments. */
export type CommandLine = readonly string[]

/** What starts programs at login on one system. */
export interface Manager {
  /** The file that describes the service. */
  readonly file: string
  /** The text of that file. @param words the command line of the daemon */
  readonly render: (words: CommandLine) => string
  /** Succeeds while the service is active. */
  readonly isActive: CommandLine
  /** These make the manager read the file, start the service now, and start it at each login. */
  readonly start: readonly CommandLine[]
  readonly stop: readonly CommandLine[]
  readonly restart: readonly CommandLine[]
  /** Shows the end of the log, and may follow it. Null if the manager keeps none. */
  readonly logs: ((isFollowing: boolean) => CommandLine) | null
}

/** @returns a null status if the program is missing or was killed */
export function runTool([program = '', ...args]: CommandLine, env: Surroundings['env']) {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env, windowsHide: true })
  return { status, stderr: stderr ?? '' }
}

/** @throws UserError `no-service` on other systems */
export function managerOf(surroundings: Surroundings): Manager {
  if (surroundings.platform === 'linux') return systemd(surroundings)
  if (surroundings.platform === 'darwin') return launchd(surroundings)
  if (surroundings.platform === 'win32') return scheduledTask(surroundings)
  const text = `cursordex cannot install a service on ${surroundings.platform}.`
  throw new UserError('no-service', text, 'Let your system start "cursordex serve".')
}

/** The text of a template with its `{{words}}` replaced. The build copies the templates beside its chunks. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  const text = readFileSync(new URL(`templates/${template}`, import.meta.url), 'utf8')
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
}

const systemctl = (...args: readonly string[]): CommandLine => ['systemctl', '--user', ...args]

/** The user's systemd. It starts the daemon at login, or at boot if lingering is on. */
function systemd({ env, homeDir }: Surroundings): Manager {
  const unit = 'cursordex.service'
  const journal = ['journalctl', '--user', '--unit', unit, '--lines', '100', '--no-pager']
  // The manager starts before the files of the shell are read, so it may not know where programs look for folders.
  const folders = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME'].filter((name) => env[name]?.startsWith('/'))
  const configHome = folders.includes('XDG_CONFIG_HOME') ? env['XDG_CONFIG_HOME'] : null
  return {
    file: join(configHome ?? join(homeDir, '.config'), 'systemd', 'user', unit),
    render: ([node = '', ...args]) =>
      fill('linux.service', {
        // Unlike an argument, the path of the program may contain a single $.
        command: [inUnit(node), ...args.map((word) => inUnit(word).replaceAll('$', '$$$$'))].join(' '),
        environment: folders.map((name) => `Environment=${inUnit(`${name}=${env[name] ?? ''}`)}\n`).join(''),
      }),
    isActive: systemctl('is-active', '--quiet', unit),
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    stop: [systemctl('disable', '--now', unit)],
    restart: [systemctl('restart', unit)],
    logs: (isFollowing) => (isFollowing ? [...journal, '--follow'] : journal),
  }
}

/** A word in double quotes. systemd reads backslashes as in C, and % as the start of a specifier. */
const inUnit = (word: string): string => `"${word.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('%', '%%')}"`

/** An agent of macOS. It starts the daemon at login. */
function launchd({ homeDir }: Surroundings): Manager {
  const domain = `gui/${userInfo().uid}`
  const target = `${domain}/cursordex`
  const file = join(homeDir, 'Library', 'LaunchAgents', 'cursordex.plist')
  const logFile = join(homeDir, 'Library', 'Logs', 'cursordex.log')
  return {
    file,
    render: (words) =>
      fill('macos.plist', {
        words: words.map((word) => `    <string>${inXml(word)}</string>\n`).join(''),
        log: inXml(logFile),
      }),
    isActive: ['launchctl', 'print', target],
    start: [
      ['launchctl', 'enable', target],
      ['launchctl', 'bootstrap', domain, file],
    ],
    stop: [['launchctl', 'bootout', target]],
    restart: [['launchctl', 'kickstart', '-k', target]],
    logs: (isFollowing) => ['tail', '-n', '100', ...(isFollowing ? ['-F'] : []), logFile],
  }
}

const schtasks = (verb: string): CommandLine => ['schtasks', `/${verb}`, '/tn', 'cursordex']

/** A scheduled task of Windows. It starts the daemon at logon, with the user's own rights. */
function scheduledTask({ env, homeDir }: Surroundings): Manager {
  const file = win32.join(win32.dirname(defaultConfigFile('win32', env, homeDir)), 'service.xml')
  const user = [env['USERDOMAIN'], env['USERNAME']].filter(Boolean).join('\\')
  // A task that does not run cannot be ended, which is no failure.
  const end = ['cmd', '/d', '/c', 'schtasks /end /tn cursordex & exit 0']
  return {
    file,
    render: (words) =>
      // A file in UTF-16, as its first line says, begins with a byte order mark.
      `\uFEFF${fill('windows.xml', {
        user: user === '' ? '' : `      <UserId>${inXml(user)}</UserId>\n`,
        command: words.map((word) => inXml(inWindows(word))).join(' '),
      })}`,
    // Whether it is registered. Whether it runs is said in the language of the system.
    isActive: schtasks('query'),
    start: [[...schtasks('create'), '/xml', file, '/f'], schtasks('run')],
    stop: [end, [...schtasks('delete'), '/f']],
    restart: [end, schtasks('run')],
    logs: null,
  }
}

/** A word as Windows programs read it: a backslash is only special before a quote. */
const inWindows = (word: string): string =>
  `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/\\+$/, '$&$&')}"`

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const inXml = (text: string): string => text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
