import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { UserError } from '../../../model/user-error.ts'
import type { Flags, Settings, Surroundings } from '../../../settings.ts'
import { printableLine } from '../../../text/printable.ts'
import { findDaemon, type Daemon } from '../../client/client.ts'
import { addExamples } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import { ownProgram } from '../own-program.ts'
import { managerOf, runTool, type CommandLine, type Manager } from './managers.ts'

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const service = program.command('service')
  addExamples(service, 'cursordex service install', 'cursordex service status')
  const add = (name: string, description: string, another: string, act: (command: Command) => Promise<void>) => {
    const command = service.command(name).description(description)
    addExamples(command, `cursordex service ${name}`, another)
    return command.action(() => act(command))
  }
  add(
    'install',
    'install the service with these settings, and start it; again to update it',
    'cursordex service install --port 4871',
    (command) => install(session, settingsOf(command), command.optsWithGlobals()),
  ).option('--print', 'print what would be written; change nothing')
  add(
    'uninstall',
    'stop the daemon and remove the service; the mirror stays',
    'cursordex service uninstall && cursordex serve',
    (command) => uninstall(session, settingsOf(command)),
  )
  add('status', 'show whether the service is installed and runs', 'cursordex status', (command) =>
    showStatus(session, settingsOf(command)),
  )
  add(
    'restart',
    'start the daemon again, for example after an upgrade',
    'npm install --global cursordex && cursordex service restart',
    (command) => restart(session, settingsOf(command)),
  )
  add(
    'logs',
    'show the log of the daemon, and follow it until Ctrl-C',
    'cursordex service logs --no-follow',
    (command) => showLogs(session, command.opts<{ readonly follow: boolean }>().follow),
  ).option('--no-follow', 'show the last 100 lines only')
}

const isActive = (manager: Manager, { env }: Surroundings): boolean => runTool(manager.isActive, env).status === 0

/** Writes the file, and starts the service. A second run updates the file. With `--print` nothing is changed. */
async function install(session: Session, settings: Settings, options: Flags & { readonly print?: true }) {
  const { surroundings, print } = session
  const manager = managerOf(surroundings)
  const text = manager.render([...ownProgram(), 'serve', ...keptFlags(settings, options, surroundings)])
  if (options.print === true) {
    await session.note(`This would be written to ${manager.file}:\n\n`)
    return print(text.replace('\uFEFF', ''))
  }
  const former = await findDaemon(settings.dataDir)
  const isUpdate = isActive(manager, surroundings)
  if (former !== null && !isUpdate) {
    throw new UserError(
      'already-running',
      `A daemon already runs at ${former.url} (process ${former.pid}), and the service did not start it.`,
      'Stop it first (Ctrl-C in its terminal, or end the process), then run this again.',
      { exitCode: 3 },
    )
  }
  mkdirSync(dirname(manager.file), { recursive: true })
  writeFileSync(manager.file, text, { encoding: manager.encoding, mode: 0o644 })
  await print(`Installed: ${manager.file}\n`)
  runAll([...(isUpdate ? manager.stop : []), ...manager.start], surroundings)
  const daemon = await nextDaemon(settings, manager, former, surroundings)
  if (daemon === null) return print('It was started and does not answer yet. See: cursordex service logs\n')
  await print(`It runs at ${daemon.url}, and starts at each login.\n`)
  if (surroundings.platform !== 'linux') return
  await print('Unless lingering is on, it stops when you log out. To keep it running: loginctl enable-linger\n')
}

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
 */
function keptFlags(settings: Settings, given: Flags, { env }: Surroundings): string[] {
  return KEPT.flatMap(([flag, variable, read]) => {
    const value = read(settings)
    // An empty list means none, and any other empty variable is not set.
    const isGiven =
      given[flag] !== undefined || Boolean(env[variable]) || (Array.isArray(value) && env[variable] === '')
    if (!isGiven || value === undefined) return []
    const option = `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (value === true) return [option]
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.length === 0 ? [option, ''] : values.flatMap((each) => [option, String(each)])
  })
}

async function uninstall({ surroundings, print }: Session, { dataDir, configFile }: Settings): Promise<void> {
  const manager = managerOf(surroundings)
  if (!existsSync(manager.file)) return print('The service is not installed.\n')
  if (isActive(manager, surroundings)) runAll(manager.stop, surroundings)
  // It may be between two starts, or no manager runs: then there is nothing to stop.
  else for (const line of manager.stop) runTool(line, surroundings.env)
  rmSync(manager.file)
  const left = [dataDir, configFile].filter((path) => existsSync(path)).map((path) => `  ${printableLine(path)}\n`)
  const head = left.length === 0 ? '' : 'These remain. Delete them if you do not want them any more:\n'
  await print(`Removed: ${manager.file}\n${head}${left.join('')}`)
}

async function showStatus({ surroundings, version, print }: Session, { dataDir }: Settings): Promise<void> {
  const manager = managerOf(surroundings)
  const lines = {
    service: existsSync(manager.file)
      ? `installed, ${manager.file}`
      : 'not installed; install it with: cursordex service install',
    manager: isActive(manager, surroundings) ? 'active' : 'not active',
    daemon: daemonText(await findDaemon(dataDir), version),
  }
  const text = Object.entries(lines).map(([label, line]) => `${label.padEnd(8)} ${printableLine(line)}\n`)
  await print(text.join(''))
}

function daemonText(daemon: Daemon | null, ownVersion: string): string {
  if (daemon === null) return 'not running'
  const { url, version, pid } = daemon
  const line = `${url}, version ${version ?? 'unknown'}, process ${pid}`
  if (version === null || version === ownVersion) return line
  return `${line}. This command has version ${ownVersion}; run: cursordex service restart`
}

async function restart({ surroundings, print }: Session, settings: Settings): Promise<void> {
  const manager = managerOf(surroundings)
  if (!existsSync(manager.file)) {
    throw new UserError('not-installed', 'The service is not installed.', 'Install it: cursordex service install')
  }
  const former = await findDaemon(settings.dataDir)
  runAll(manager.restart, surroundings)
  const daemon = await nextDaemon(settings, manager, former, surroundings)
  if (daemon === null) {
    throw new UserError('no-answer', 'The daemon was restarted and does not answer.', 'See: cursordex service logs')
  }
  await print(`It runs at ${daemon.url}, version ${daemon.version ?? 'unknown'}.\n`)
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
  const shown = [program, ...args].join(' ')
  throw new UserError('no-logs', `The log cannot be shown with: ${shown}`, `Is ${program} installed?`)
}

/** Runs the commands one after another. @throws UserError `service-failed` if one fails */
function runAll(commands: readonly CommandLine[], { env }: Surroundings): void {
  for (const command of commands) {
    const { status, stderr } = runTool(command, env)
    if (status === 0) continue
    const unsaid = status === null ? 'it cannot be started' : `exit code ${status}`
    const reason = stderr.trim().split('\n')[0] || unsaid
    const lines = commands.map((each) => each.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' '))
    throw new UserError(
      'service-failed',
      `"${command.join(' ')}" failed: ${reason}`,
      `Run it later: ${lines.join(' && ')}`,
    )
  }
}

const ANSWERS_WITHIN_MS = 20_000

/**
 * Waits for the daemon of the service. Null if it does not answer in time, or if the service is no longer active.
 * @param former a daemon that is about to end
 */
async function nextDaemon(
  { dataDir }: Settings,
  manager: Manager,
  former: Daemon | null,
  surroundings: Surroundings,
): Promise<Daemon | null> {
  const endAtMs = performance.now() + ANSWERS_WITHIN_MS
  while (performance.now() < endAtMs) {
    const daemon = await findDaemon(dataDir)
    if (daemon !== null && daemon.pid !== former?.pid) return daemon
    if (!isActive(manager, surroundings)) return null
    await sleep(200)
  }
  return null
}
