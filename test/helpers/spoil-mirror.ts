import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'

/** Keeps the time of a file. Node can only set times in microseconds. */
export function inItsTime(path: string, act: () => void): void {
  const clock = `${path}.time`
  execFileSync('touch', ['-r', path, clock])
  act()
  execFileSync('touch', ['-r', clock, path])
  rmSync(clock)
}
