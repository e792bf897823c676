import { posix, win32 } from 'node:path'

/** Names of the folders in a folder; null where it cannot be listed. */
export type ListFolders = (path: string) => readonly string[] | null

/** A search that needs more is given up: it would find more than one answer, or none. */
const LISTINGS_MAX = 200

/**
 * The folder for which Cursor made a project's name out of its path, if it can be one folder only. The name is lossy:
 * whatever is no Latin letter and no digit became `-`, so `a-b` is `a/b`, `a-b`, `a.b` or `a b`. Null where none of
 * these is there, or several are, or a folder on the way cannot be listed.
 */
export function resolveSlug(slug: string, platform: NodeJS.Platform, listFolders: ListFolders): string | null {
  const start = startOf(slug, platform)
  if (start === null) return null
  const paths = platform === 'win32' ? win32 : posix
  const waiting = [start]
  const readings: string[] = []
  for (let listings = 0; waiting.length > 0; listings += 1) {
    const { path, rest } = waiting.pop() ?? start
    const names = listings < LISTINGS_MAX ? listFolders(path) : null
    if (names === null) return null
    if (rest === '') readings.push(path)
    for (const name of names) {
      const after = restAfter(slugOf(name), rest)
      if (after !== null) waiting.push({ path: paths.join(path, name), rest: after })
    }
  }
  return readings.length === 1 ? (readings[0] ?? null) : null
}

interface Lead {
  readonly path: string
  /** What of the slug the path does not account for yet. */
  readonly rest: string
}

/** A window without a folder has a fixed name, or the digits of its id. */
function startOf(slug: string, platform: NodeJS.Platform): Lead | null {
  if (slug === 'empty-window' || /^\d*$/.test(slug)) return null
  if (platform !== 'win32') return { path: '/', rest: slugOf(slug) }
  const [, drive, rest] = /^([a-z])-+(.+)$/i.exec(slug) ?? []
  return drive === undefined || rest === undefined ? null : { path: `${drive}:\\`, rest: slugOf(rest) }
}

/** Some versions write a `-` for every sign and some for a run of them: counted as a run, both are covered. */
const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/** A name without any Latin letter or digit leaves no trace. */
function restAfter(name: string, rest: string): string | null {
  if (name === '') return rest
  if (name === rest) return ''
  return rest.startsWith(`${name}-`) ? rest.slice(name.length + 1) : null
}
