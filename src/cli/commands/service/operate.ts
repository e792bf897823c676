import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import type { Command } from 'commander'
import { UserError } from '../../../model/user-error.ts'
import type { Settings } from '../../../settings.ts'
import { printableLine } from '../../../text/printable.ts'
import { findDaemon, type Daemon } from '../../client/client.ts'
import type { Place, Session } from '../../session.ts'
import { settingsFrom } from './launch.ts'
import { installedText, isOwn, lineOf, refuseForeign, runAll, untilAnswered } from './manager.ts'
import { managerOf } from './manager-of.ts'
import type { ServiceManager, ServiceState } from './manager.ts'

interface Installed {
  readonly manager: ServiceManager
  readonly isInstalled: boolean
  /** Those of the service. If none is installed, those of this command. */
  readonly settings: Settings
}

function lookUp(command: Command, { surroundings }: Session, { settingsOf }: Place): Installed {
  const manager = managerOf(surroundings)
  const text = installedText(manager)
  const settings = text === null ? null : settingsFrom(text, surroundings)
  return { manager, isInstalled: text !== null, settings: settings ?? settingsOf(command) }
}

export async function showStatus(command: Command, session: Session, place: Place): Promise<void> {
  const { manager, isInstalled, settings } = lookUp(command, session, place)
  const isAvailable = manager.isAvailable()
  const state = isAvailable ? manager.state() : null
  const daemon = await findDaemon(settings.dataDir)
  const lines = [
    [
      'service',
      isInstalled ? `installed, ${manager.file}` : 'not installed; install it with: cursordex service install',
    ],
    ['manager', isAvailable ? stateText(state) : `no ${manager.name} answers here`],
    ['daemon', daemonText(daemon, state, session.version)],
  ]
  await session.print(lines.map(([label = '', text = '']) => `${label.padEnd(8)} ${printableLine(text)}\n`).join(''))
}

function stateText(state: ServiceState | null): string {
  if (state === null) return 'does not know the service'
  return typeof state.pid === 'number' ? `${state.summary}, process ${state.pid}` : state.summary
}

function daemonText(daemon: Daemon | null, state: ServiceState | null, ownVersion: string): string {
  if (daemon === null) return 'not running'
  const { url, version, pid } = daemon
  const isServices = isOwn(daemon, state)
  const origin = isServices ? '' : ` (process ${pid}, which the service did not start)`
  if (version === null || version === ownVersion) return `${url}, version ${version ?? 'unknown'}${origin}`
  const remedy = isServices ? 'run: cursordex service restart' : 'stop it and start it again'
  return `${url}, version ${version}${origin}. This command has version ${ownVersion}; ${remedy}`
}

export async function restart(command: Command, session: Session, place: Place): Promise<void> {
  const { manager, isInstalled, settings } = lookUp(command, session, place)
  if (!isInstalled) {
    throw new UserError('not-installed', 'The service is not installed.', 'Install it: cursordex service install')
  }
  if (!manager.isAvailable()) {
    throw new UserError('no-manager', `No ${manager.name} answers here.`, `Run later: ${lineOf(manager.restart)}`)
  }
  const former = await refuseForeign(settings.dataDir, manager)
  runAll(manager.restart, session.surroundings)
  const daemon = await untilAnswered(settings.dataDir, manager, former?.pid ?? null)
  if (daemon === null) {
    throw new UserError('no-answer', 'The daemon was restarted and does not answer.', 'See: cursordex service logs')
  }
  await session.print(`It runs at ${daemon.url}, version ${daemon.version ?? 'unknown'}.\n`)
}

export async function uninstall(command: Command, session: Session, place: Place): Promise<void> {
  const { manager, isInstalled, settings } = lookUp(command, session, place)
  const isKnown = manager.isAvailable() && manager.state() !== null
  if (!isInstalled) return session.print('The service is not installed.\n')
  if (isKnown) runAll(manager.disable, session.surroundings)
  for (const file of [manager.file, ...manager.leftovers]) rmSync(file, { force: true })
  if (isKnown) runAll(manager.afterRemoval, session.surroundings)
  const remaining: readonly (readonly [what: string, path: string | null])[] = [
    ['mirror', settings.dataDir],
    ['archives', settings.archives.dir],
    ['settings', settings.configFile],
    ['log', manager.logFile],
  ]
  const lines = remaining.flatMap(([what, path]) =>
    path !== null && existsSync(path) ? [`  ${what.padEnd(8)} ${printableLine(path)}\n`] : [],
  )
  const rest =
    lines.length === 0 ? '' : `These remain. Delete them if you do not want them any more:\n${lines.join('')}`
  await session.print(`Removed: ${manager.file}\n${rest}`)
}

export async function showLogs(command: Command, session: Session): Promise<void> {
  const manager = managerOf(session.surroundings)
  const [program, ...args] = manager.logs(command.opts<{ readonly follow: boolean }>().follow) ?? []
  if (program === undefined) {
    throw new UserError(
      'no-logs',
      'The task scheduler of Windows keeps no output of the daemon.',
      'To see it, stop the task and run "cursordex serve" in a terminal.',
    )
  }
  const { env } = session.surroundings
  const status = await new Promise<number | null>((resolve) => {
    spawn(program, args, { stdio: 'inherit', env })
      .on('error', () => resolve(null))
      .on('close', (code, signal) => resolve(signal === null ? code : 0))
  })
  if (status === 0) return
  const shown = lineOf([[program, ...args]])
  throw new UserError('no-logs', `The log cannot be shown with: ${shown}`, `Is ${program} installed?`)
}
