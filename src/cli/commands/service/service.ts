import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { UserError } from '../../../model/user-error.ts'
import type { Flags, Settings } from '../../../settings.ts'
import { printableLine } from '../../../text/printable.ts'
import { findDaemon, type Daemon } from '../../client/client.ts'
import { addExamples } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import { launchOf, settingsFrom } from './launch.ts'
import { managerOf, runTool, type CommandLine, type Manager, type State } from './managers.ts'

export function addServiceCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const service = program.command('service')
  addExamples(service, 'cursordex service install', 'cursordex service status')
  const add = (name: string, description: string, act: (command: Command) => Promise<void>, another: string) => {
    const command = service.command(name).description(description)
    addExamples(command, `cursordex service ${name}`, another)
    return command.action(() => act(command))
  }
  const opened = (command: Command) => openService(session, () => settingsOf(command))
  add(
    'install',
    'install the service with these settings, and start it; again to update it',
    (command) => install(session, settingsOf(command), command.optsWithGlobals()),
    'cursordex service install --port 4871',
  ).option('--print', 'print what would be written; change nothing')
  add(
    'uninstall',
    'stop the daemon and remove the service; the mirror stays',
    (command) => uninstall(session, opened(command)),
    'cursordex service uninstall && cursordex serve',
  )
  add(
    'status',
    'show whether the service is installed and runs',
    (command) => showStatus(session, opened(command)),
    'cursordex status',
  )
  add(
    'restart',
    'start the daemon again, for example after an upgrade',
    (command) => restart(session, opened(command)),
    'npm install --global cursordex && cursordex service restart',
  )
  add(
    'logs',
    'show the log of the daemon, and follow it until Ctrl-C',
    (command) => showLogs(session, command.opts<{ readonly follow: boolean }>().follow),
    'cursordex service logs --no-follow',
  ).option('--no-follow', 'show the last 100 lines only')
}

interface Service {
  readonly manager: Manager
  readonly isInstalled: boolean
  /** Those of the service. If none is installed, those of this command. */
  readonly settings: Settings
}

function openService({ surroundings }: Session, own: () => Settings): Service {
  const manager = managerOf(surroundings)
  const text = installedText(manager)
  return {
    manager,
    isInstalled: text !== null,
    settings: (text === null ? null : settingsFrom(text, surroundings)) ?? own(),
  }
}

/** Writes the file, and starts the service. A second run updates the file. With `--print` nothing is changed. */
async function install(session: Session, settings: Settings, options: Flags & { readonly print?: true }) {
  const { surroundings } = session
  const { env } = surroundings
  const manager = managerOf(surroundings)
  const text = manager.render(launchOf(settings, options, surroundings))
  if (options.print === true) {
    await session.note(`This would be written to ${manager.file}:\n\n`)
    return session.print(text.replace('\uFEFF', ''))
  }
  const isAvailable = runTool(manager.probe, env).status === 0
  const former = isAvailable ? await refuseForeign(settings.dataDir, manager) : null
  // Asked before the file is written, because systemd reads a new file at the first question about it.
  const isKnown = isAvailable && manager.state() !== null
  const before = installedText(manager)
  mkdirSync(dirname(manager.file), { recursive: true })
  writeFileSync(manager.file, text, { encoding: manager.encoding, mode: 0o644 })
  const outcome = before === null ? 'Installed' : `Already installed, ${before === text ? 'unchanged' : 'updated'}`
  await session.print(`${outcome}: ${manager.file}\n`)
  if (!isAvailable) {
    const later = `No ${manager.name} answers here, so nothing was started. Run later: ${lineOf(manager.start)}`
    return session.print(`${later}\n`)
  }
  if (former !== null && before === text) await session.print(`It runs at ${former.url}.\n`)
  else {
    runAll([...(isKnown ? manager.stop : []), ...manager.start], env)
    const daemon = await nextDaemon(settings.dataDir, manager, former)
    const failure = 'It was started and does not answer yet. See: cursordex service logs\n'
    await session.print(daemon === null ? failure : `It runs at ${daemon.url}, and starts at each login.\n`)
  }
  if (surroundings.platform !== 'linux') return
  const linger = runTool(['loginctl', 'show-user', String(userInfo().uid), '--property=Linger'], env)
  if (linger.status !== 0 || linger.stdout.trim() !== 'Linger=no') return
  await session.print('It stops when you log out. To keep it running: loginctl enable-linger\n')
}

async function uninstall({ surroundings, print }: Session, { manager, isInstalled, settings }: Service): Promise<void> {
  if (!isInstalled) return print('The service is not installed.\n')
  const { env } = surroundings
  const isKnown = runTool(manager.probe, env).status === 0 && manager.state() !== null
  if (isKnown) runAll(manager.stop, env)
  rmSync(manager.file)
  const places = {
    mirror: settings.dataDir,
    archives: settings.archives.dir,
    settings: settings.configFile,
    log: manager.logFile,
  }
  const rest = Object.entries(places).flatMap(([what, path]) =>
    path !== null && existsSync(path) ? [`  ${what.padEnd(8)} ${printableLine(path)}\n`] : [],
  )
  const head = rest.length === 0 ? '' : 'These remain. Delete them if you do not want them any more:\n'
  await print(`Removed: ${manager.file}\n${head}${rest.join('')}`)
}

async function showStatus(session: Session, { manager, isInstalled, settings }: Service): Promise<void> {
  const isAvailable = runTool(manager.probe, session.surroundings.env).status === 0
  const state = isAvailable ? manager.state() : null
  const known = state === null ? 'does not know the service' : state.summary
  const lines = {
    service: isInstalled ? `installed, ${manager.file}` : 'not installed; install it with: cursordex service install',
    manager: !isAvailable
      ? `no ${manager.name} answers here`
      : `${known}${typeof state?.pid === 'number' ? `, process ${state.pid}` : ''}`,
    daemon: daemonText(await findDaemon(settings.dataDir), state, session.version),
  }
  const text = Object.entries(lines).map(([label, line]) => `${label.padEnd(8)} ${printableLine(line)}\n`)
  await session.print(text.join(''))
}

function daemonText(daemon: Daemon | null, state: State | null, ownVersion: string): string {
  if (daemon === null) return 'not running'
  const { url, version, pid } = daemon
  const isOurs = isOwn(daemon, state)
  const line = `${url}, version ${version ?? 'unknown'}${isOurs ? '' : ` (process ${pid}, which the service did not start)`}`
  if (version === null || version === ownVersion) return line
  const remedy = isOurs ? 'run: cursordex service restart' : 'stop it and start it again'
  return `${line}. This command has version ${ownVersion}; ${remedy}`
}

async function restart(session: Session, { manager, isInstalled, settings }: Service): Promise<void> {
  const { env } = session.surroundings
  if (!isInstalled) {
    throw new UserError('not-installed', 'The service is not installed.', 'Install it: cursordex service install')
  }
  if (runTool(manager.probe, env).status !== 0) {
    throw new UserError('no-manager', `No ${manager.name} answers here.`, `Run later: ${lineOf(manager.restart)}`)
  }
  const former = await refuseForeign(settings.dataDir, manager)
  runAll(manager.restart, env)
  const daemon = await nextDaemon(settings.dataDir, manager, former)
  if (daemon === null) {
    throw new UserError('no-answer', 'The daemon was restarted and does not answer.', 'See: cursordex service logs')
  }
  await session.print(`It runs at ${daemon.url}, version ${daemon.version ?? 'unknown'}.\n`)
}

const FOLLOWS: ReadonlySet<string> = new Set(['--follow', '-F'])

async function showLogs({ surroundings }: Session, isFollowing: boolean): Promise<void> {
  const following = managerOf(surroundings).follow ?? []
  const [program, ...args] = following.filter((word) => isFollowing || !FOLLOWS.has(word))
  if (program === undefined) {
    throw new UserError(
      'no-logs',
      'The task scheduler of Windows keeps no output of the daemon.',
      'To see it, stop the task and run "cursordex serve" in a terminal.',
    )
  }
  const status = await new Promise<number | null>((resolve) => {
    spawn(program, args, { stdio: 'inherit', env: surroundings.env })
      .on('error', () => resolve(null))
      .on('close', (code, signal) => resolve(signal === null ? code : 0))
  })
  if (status === 0) return
  const shown = lineOf([[program, ...args]])
  throw new UserError('no-logs', `The log cannot be shown with: ${shown}`, `Is ${program} installed?`)
}

/** The text of the installed file. Null if there is none. */
const installedText = ({ file, encoding }: Manager): string | null =>
  existsSync(file) ? readFileSync(file, encoding) : null

const lineOf = (commands: readonly CommandLine[]): string =>
  commands.map((command) => command.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')).join(' && ')

/** Runs the commands one after another. @throws UserError `service-failed` if one fails */
function runAll(commands: readonly CommandLine[], env: Session['surroundings']['env']): void {
  for (const command of commands) {
    const { status, stderr } = runTool(command, env)
    if (status === 0) continue
    const unsaid = status === null ? 'it cannot be started' : `exit code ${status}`
    const reason = stderr.trim().split('\n')[0] || unsaid
    throw new UserError('service-failed', `"${command.join(' ')}" failed: ${reason}`, 'Run it yourself to see more.')
  }
}

const ANSWERS_WITHIN_MS = 20_000

/**
 * Waits for the daemon of the service. Null if it does not answer in time, or if the manager gave up.
 * @param former a daemon that is about to end
 */
async function nextDaemon(dataDir: string, manager: Manager, former: Daemon | null): Promise<Daemon | null> {
  const endAtMs = performance.now() + ANSWERS_WITHIN_MS
  while (performance.now() < endAtMs) {
    const daemon = await findDaemon(dataDir)
    if (daemon !== null && daemon.pid !== former?.pid) return daemon
    const state = manager.state()
    if (state === null || state.hasFailed) return null
    await sleep(200)
  }
  return null
}

/** @throws UserError `already-running` if a daemon runs that the service manager did not start */
async function refuseForeign(dataDir: string, manager: Manager): Promise<Daemon | null> {
  const daemon = await findDaemon(dataDir)
  if (daemon === null || isOwn(daemon, manager.state())) return daemon
  throw new UserError(
    'already-running',
    `A daemon already runs at ${daemon.url} (process ${daemon.pid}), and the service did not start it.`,
    'Stop it first (Ctrl-C in its terminal, or end the process), then run this again.',
    { exitCode: 3 },
  )
}

/** Windows does not report the process, so any daemon counts as the task's own. */
const isOwn = ({ pid }: Daemon, state: State | null): boolean =>
  state !== null && (state.pid === 'unknown' || state.pid === pid)
