import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join, win32 } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { UserError } from '../../../model/user-error.ts'
import { requireRegular } from '../../../regular-file.ts'
import { defaultConfigFile, flagsFor, type Settings, type Surroundings } from '../../../settings.ts'
import { printable, printableLine } from '../../../text/printable.ts'
import { type Daemon, findDaemon } from '../../client/client.ts'
import { addExamples, addGroup, type Options } from '../../input/options.ts'
import type { Session } from '../../session.ts'
import { ownProgram } from '../../input/files.ts'

/** What each of the commands gets. */
interface Task {
  readonly session: Session
  readonly manager: Manager
  readonly settings: Settings
  readonly options: Options
}

export function addCommand(program: Command, session: Session): void {
  const about = 'keep the daemon running: start it at each login'
  const service = addGroup(program, 'service', about, 'cursordex service install', 'cursordex service status')
  const add = (name: string, act: (task: Task) => Promise<void>, description: string, another: string): Command => {
    const command = service.command(name).description(description)
    command.action(() => {
      const [settings, manager] = [session.settingsOf(command), managerOf(session.world)]
      return act({ session, manager, settings, options: command.optsWithGlobals() })
    })
    return addExamples(command, `cursordex service ${name}`, another)
  }
  const installed = 'install the service with these settings, and start it; again to update it'
  const installing = add('install', install, installed, 'cursordex service install --port 4871')
  installing.option('--print', 'print what would be written; change nothing')
  const uninstalled = 'stop the daemon and remove the service; the mirror stays'
  add('uninstall', uninstall, uninstalled, 'cursordex service uninstall && cursordex serve')
  add('status', showStatus, 'show whether the service is installed and runs', 'cursordex status')
  const restarted = 'start the daemon again, for example after an upgrade'
  add('restart', restart, restarted, 'npm install --global cursordex && cursordex service restart')
  const followed = 'show the log of the daemon, and follow it until Ctrl-C'
  const following = add('logs', showLogs, followed, 'cursordex service logs --no-follow')
  following.option('--no-follow', 'show the last 100 lines only')
}

/** Writes the file, and starts the service. A second run updates the file. With `--print` nothing is changed. */
async function install(task: Task): Promise<void> {
  const { session, manager, settings, options } = task
  const { print, world } = session
  // The manager does not have the variables of this shell. The config file is read by the daemon itself.
  const words = [...ownProgram(), 'serve', ...flagsFor(options, world.env, settings)]
  const bad = words.find((word) => /\p{Cc}/u.test(word))
  if (bad !== undefined) {
    throw new UserError('bad-path', `The path ${bad} contains a control character.`, 'Rename the folder.')
  }
  const text = manager.render(words)
  if (options.print === true) {
    await session.note(`This would be written to ${manager.file}:\n\n`)
    return print(text.replace('\uFEFF', ''))
  }
  const former = await findDaemon(settings.dataDir)
  const isUpdate = isActive(manager, world)
  if (former !== null && !isUpdate) {
    const found = `A daemon already runs at ${former.url} (process ${former.pid}), and the service did not start it.`
    const hint = 'Stop it first (Ctrl-C in its terminal, or end the process), then run this again.'
    throw new UserError('already-running', found, hint, { exitCode: 3 })
  }
  mkdirSync(dirname(manager.file), { recursive: true })
  requireRegular(manager.file)
  writeFileSync(manager.file, text, { encoding: text.startsWith('\uFEFF') ? 'utf16le' : 'utf8', mode: 0o644 })
  await print(`Installed: ${manager.file}\n`)
  runAll([...(isUpdate ? manager.stop : []), ...manager.start], world)
  const daemon = await nextDaemon(task, former)
  if (daemon === null) return print('It was started and does not answer yet. See: cursordex service logs\n')
  await print(`It runs at ${daemon.url}, and starts at each login.\n`)
  if (world.platform !== 'linux') return
  await print('Unless lingering is on, it stops when you log out. To keep it running: loginctl enable-linger\n')
}

const isActive = (manager: Manager, { env }: Surroundings): boolean => runTool(manager.isActive, env).status === 0

async function uninstall({ session: { print, world }, manager, settings }: Task): Promise<void> {
  if (!existsSync(manager.file)) return print('The service is not installed.\n')
  if (isActive(manager, world)) runAll(manager.stop, world)
  // It may be between two starts, or no manager runs: then there is nothing to stop.
  else for (const line of manager.stop) runTool(line, world.env)
  rmSync(manager.file)
  const left = [settings.dataDir, settings.configFile].filter((path) => existsSync(path))
  const head = left.length === 0 ? '' : 'These remain. Delete them if you do not want them any more:\n'
  await print(`Removed: ${manager.file}\n${head}${left.map((path) => `  ${printableLine(path)}\n`).join('')}`)
}

async function showStatus({ session, manager, settings }: Task): Promise<void> {
  const isInstalled = existsSync(manager.file)
  const daemon = await findDaemon(settings.dataDir)
  const lines = [
    `service  ${isInstalled ? `installed, ${manager.file}` : 'not installed; install it with: cursordex service install'}`,
    `manager  ${isActive(manager, session.world) ? 'active' : 'not active'}`,
    `daemon   ${daemon === null ? 'not running' : `${daemon.url}, version ${daemon.version ?? 'unknown'}, process ${daemon.pid}`}`,
  ]
  await session.print(printable(`${lines.join('\n')}\n`))
}

async function restart(task: Task): Promise<void> {
  const { session, manager, settings } = task
  if (!existsSync(manager.file)) {
    throw new UserError('not-installed', 'The service is not installed.', 'Install it: cursordex service install')
  }
  const former = await findDaemon(settings.dataDir)
  runAll(manager.restart, session.world)
  const daemon = await nextDaemon(task, former)
  if (daemon === null) {
    throw new UserError('no-answer', 'The daemon was restarted and does not answer.', 'See: cursordex service logs')
  }
  await session.print(`It runs at ${daemon.url}, version ${daemon.version ?? 'unknown'}.\n`)
}

async function showLogs({ session, manager, options: { follow = true } }: Task): Promise<void> {
  if (manager.logs === null) {
    const hint = 'To see it, stop the task and run "cursordex serve" in a terminal.'
    throw new UserError('no-logs', 'The task scheduler of Windows keeps no output of the daemon.', hint)
  }
  const [program = '', ...args] = manager.logs(follow)
  const { status, signal } = spawnSync(program, args, { stdio: 'inherit', env: session.world.env })
  if (status === 0 || signal !== null) return
  const shown = [program, ...args].join(' ')
  throw new UserError('no-logs', `The log cannot be shown with: ${shown}`, `Is ${program} installed?`)
}

/** Runs the commands one after another. @throws UserError `service-failed` if one fails */
function runAll(commands: readonly CommandLine[], { env }: Surroundings): void {
  for (const command of commands) {
    const { status, stderr } = runTool(command, env)
    if (status === 0) continue
    const unsaid = status === null ? 'it cannot be started' : `exit code ${status}`
    const text = `"${command.join(' ')}" failed: ${stderr.trim().split('\n')[0] || unsaid}`
    const lines = commands.map((each) => each.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' '))
    throw new UserError('service-failed', text, `Run it later: ${lines.join(' && ')}`)
  }
}

/**
 * Waits for the daemon of the service. Null if it does not answer in 20 s, or if the service is no longer active.
 * @param former a daemon that is about to end
 */
async function nextDaemon({ settings, manager, session }: Task, former: Daemon | null): Promise<Daemon | null> {
  for (let asked = 0; asked < 100; asked += 1) {
    const daemon = await findDaemon(settings.dataDir)
    if (daemon !== null && daemon.pid !== former?.pid) return daemon
    if (!isActive(manager, session.world)) return null
    await sleep(200)
  }
  return null
}

/** A program and its arguments. */
type CommandLine = readonly string[]

/** What starts programs at login on one system. */
interface Manager {
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
function runTool([program = '', ...args]: CommandLine, env: Surroundings['env']) {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env, windowsHide: true })
  return { status, stderr: stderr ?? '' }
}

/** @throws UserError `no-service` on other systems */
function managerOf(surroundings: Surroundings): Manager {
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
