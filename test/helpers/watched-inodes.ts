import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The inodes that a process watches. Only on Linux. */
export function watchedInodes(pid: number): number[] {
  const folder = `/proc/${pid}/fdinfo`
  const tellings = readdirSync(folder).map((name) => readIfThere(join(folder, name)))
  return tellings.flatMap((text) =>
    [...text.matchAll(/^inotify .* ino:([0-9a-f]+)/gm)].map(([, ino]) => Number(`0x${ino}`)),
  )
}

/** A descriptor may be closed meanwhile, for example the one of the list itself. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
