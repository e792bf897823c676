import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Whether this system reports on other processes, in /proc. */
export const canLook = process.platform === 'linux'

/** Clock ticks per second, the same on every Linux that Node runs on. */
const TICKS = 100

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    // The process ended, or we may not read its files.
    if (error instanceof Error && 'code' in error && /^(ENOENT|ESRCH|EACCES)$/.test(String(error.code))) return ''
    throw error
  }
}

/** The fields after the name of the program. The name may contain spaces and parentheses. */
const statOf = (pid: number): string[] => readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []

/** A process and all of its descendants, including the daemon's search processes. */
export function familyOf(pid: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))[1])] as const)
  const family = [pid]
  for (const member of family) family.push(...parents.flatMap(([child, parent]) => (parent === member ? [child] : [])))
  return family
}

function kilobytes(pid: number, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readProc(pid, 'status'))?.[1] ?? 0)
}

export const residentBytes = (pid: number): number => kilobytes(pid, 'VmRSS') * 1024

/** The peak of resident memory. */
export const peakBytes = (pid: number): number => kilobytes(pid, 'VmHWM') * 1024

export const familyBytes = (pid: number): number =>
  familyOf(pid).reduce((sum, member) => sum + residentBytes(member), 0)

/** CPU time so far, without children that have ended. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid)
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
}

/** Bytes read from files and sockets so far. NaN if the system does not report it. */
export const charsRead = (pid: number): number => Number(/^rchar: (\d+)/m.exec(readProc(pid, 'io'))?.[1] ?? Number.NaN)

/** A Node that wakes up once a second and does nothing. */
export function startBareNode(): ChildProcess {
  return spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
}
