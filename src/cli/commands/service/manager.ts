import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../../model/user-error.ts'
import type { Surroundings } from '../../../settings.ts'
import { findDaemon, type Daemon } from '../../client/client.ts'
import type { Launch } from './launch.ts'

/** A program and its arguments. */
export type CommandLine = readonly string[]

/** What the manager reports about the service. */
export interface ServiceState {
  /** For people. */
  readonly summary: string
  /** Null if it does not run. */
  readonly pid: number | null | 'unknown'
  /** True if it ended and is not started again. */
  readonly hasFailed: boolean
}

/** What starts programs at login on one system. */
export interface ServiceManager {
  readonly name: string
  /** The file that describes the service. */
  readonly file: string
  render(launch: Launch): string
  /** With `utf16le` the file begins with a byte order mark. */
  readonly encoding: 'utf8' | 'utf16le'
  /** False if it does not run here, for example in a container. */
  isAvailable(): boolean
  /** Null if it does not know the service. */
  state(): ServiceState | null
  /** These make it read the file, start the service now, and start it at each login. */
  readonly enable: readonly CommandLine[]
  /** The same for a service that it already knows. */
  readonly update: readonly CommandLine[]
  readonly disable: readonly CommandLine[]
  readonly afterRemoval: readonly CommandLine[]
  /** Files that `disable` removes, if the manager runs. */
  readonly leftovers: readonly string[]
  readonly restart: readonly CommandLine[]
  /** Null if it keeps no log. */
  logs(isFollowing: boolean): CommandLine | null
  readonly logFile: string | null
  /** What else the user should know after the installation. */
  hint(): string | null
}

interface ToolResult {
  /** Null if the program is missing or was killed. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export type RunTool = (command: CommandLine) => ToolResult

export function toolIn(env: Surroundings['env']): RunTool {
  return ([program = '', ...args]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, windowsHide: true })
    // Both are null if the program is missing.
    return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
  }
}

/** Runs the commands one after another. @throws UserError `service-failed` if one fails */
export function runAll(commands: readonly CommandLine[], { env }: Surroundings): void {
  const run = toolIn(env)
  for (const command of commands) {
    const { status, stderr } = run(command)
    if (status === 0) continue
    const line = stderr.trim().split('\n')[0] ?? ''
    const reason = line === '' ? (status === null ? 'it cannot be started' : `exit code ${status}`) : line
    throw new UserError('service-failed', `"${command.join(' ')}" failed: ${reason}`, 'Run it yourself to see more.')
  }
}

export const lineOf = (commands: readonly CommandLine[]): string =>
  commands.map((command) => command.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')).join(' && ')

const ORDER_MARK = '\uFEFF'

/** The text of the installed file. Null if there is none. */
export function installedText({ file, encoding }: ServiceManager): string | null {
  return existsSync(file) ? readFileSync(file, encoding).replace(ORDER_MARK, '') : null
}

/** Writes the file beside and renames it, so that the manager never reads half a file. */
export function writeInstalled({ file, encoding }: ServiceManager, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const beside = `${file}.${process.pid}.new`
  try {
    writeFileSync(beside, encoding === 'utf8' ? text : `${ORDER_MARK}${text}`, { encoding, mode: 0o644 })
    renameSync(beside, file)
  } finally {
    rmSync(beside, { force: true })
  }
}

const ANSWERS_WITHIN_MS = 20_000

/**
 * Waits for the daemon of the service. Null if it does not answer in time, or if the manager gave up.
 * @param formerPid a daemon that is about to end
 */
export async function untilAnswered(
  dataDir: string,
  manager: ServiceManager,
  formerPid: number | null,
): Promise<Daemon | null> {
  const endAtMs = performance.now() + ANSWERS_WITHIN_MS
  while (performance.now() < endAtMs) {
    const daemon = await findDaemon(dataDir)
    if (daemon !== null && daemon.pid !== formerPid) return daemon
    const state = manager.state()
    if (state === null || state.hasFailed) return null
    await sleep(200)
  }
  return null
}

/** @throws UserError `already-running` if a daemon runs that the service manager did not start */
export async function refuseForeign(dataDir: string, manager: ServiceManager): Promise<Daemon | null> {
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
export const isOwn = (daemon: Daemon, state: ServiceState | null): boolean =>
  state !== null && (state.pid === 'unknown' || state.pid === daemon.pid)
