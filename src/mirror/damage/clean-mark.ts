import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'

/**
 * The file beside the mirror that says: this mirror was sound, was closed in order, and has these sizes and times. A mirror
 * that a crash left behind, or that anybody wrote to since, has no such file or another state.
 */
const markOf = (path: string): string => `${path}-clean`

/**
 * Takes the mark away before the mirror is opened for writing, durably: a crash from now on must not leave it behind.
 * @returns whether the mirror is as its last writer left it
 */
export function takeCleanMark(path: string): boolean {
  const mark = markOf(path)
  try {
    const noted = readFileSync(mark, 'utf8')
    // An empty file is no mark. It is synced, because the removal of a name is not durable by itself.
    writeDurably(mark, '')
    rmSync(mark, { force: true })
    return noted === stateOf(path)
  } catch {
    return false
  }
}

/** Marks a sound mirror after its last write. Nobody has it open for writing. */
export function leaveCleanMark(path: string): void {
  try {
    writeDurably(markOf(path), stateOf(path))
  } catch {
    // Without a mark the next start checks the mirror first.
    rmSync(markOf(path), { force: true })
  }
}

function writeDurably(file: string, text: string): void {
  const handle = openSync(file, 'a', 0o600)
  try {
    ftruncateSync(handle)
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Uses only `stat`: another plain file call could drop SQLite's locks. */
const stateOf = (path: string): string =>
  [path, `${path}-wal`].map((file) => describe(statSync(file, { bigint: true, throwIfNoEntry: false }))).join('\n')

const describe = (stat: { readonly size: bigint; readonly mtimeNs: bigint } | undefined): string =>
  stat === undefined || stat.size === 0n ? '-' : `${stat.size} ${stat.mtimeNs}`
