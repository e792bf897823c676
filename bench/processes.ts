import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** Whether this system tells about other processes, under /proc. */
export const canLook = process.platform === 'linux'

/** Clock ticks a second; the same on every Linux that Node runs on. */
const TICKS = 100

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch (error) {
    // It ended, or does not let us look.
    if (error instanceof Error && 'code' in error && /^(ENOENT|ESRCH|EACCES)$/.test(String(error.code))) return ''
    throw error
  }
}

/** The fields behind the name of the program, which may hold spaces and parentheses. */
const statOf = (pid: number): string[] => readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? []

/** A process and all that it started, the daemon's search processes among them. */
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

/** The most that was ever resident. */
export const peakBytes = (pid: number): number => kilobytes(pid, 'VmHWM') * 1024

export const familyBytes = (pid: number): number =>
  familyOf(pid).reduce((sum, member) => sum + residentBytes(member), 0)

/** Time on a core so far, its ended children not among it. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid)
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
}

/** Bytes that it asked of files and sockets so far; NaN where the system does not tell. */
export const charsRead = (pid: number): number => Number(/^rchar: (\d+)/m.exec(readProc(pid, 'io'))?.[1] ?? Number.NaN)

/** A Node that wakes once a second and does nothing. */
export function startBareNode(): ChildProcess {
  return spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
}
