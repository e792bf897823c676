import { posix, win32 } from 'node:path'

/** Names of the folders in a folder; null if it cannot be listed. */
export type ListFolders = (path: string) => readonly string[] | null

/** A longer search is given up: it would find several answers, or none. */
const LISTINGS_MAX = 200

/**
 * The folder from whose path Cursor made a project's name, if there is exactly one candidate. The name is lossy: every
 * character that is not a Latin letter or a digit became `-`, so `a-b` is `a/b`, `a-b`, `a.b` or `a b`. Null if no
 * candidate exists, if several exist, or if a folder on the way cannot be listed.
 */
export function resolveSlug(slug: string, platform: NodeJS.Platform, listFolders: ListFolders): string | null {
  const start = startOf(slug, platform)
  if (start === null) return null
  const paths = platform === 'win32' ? win32 : posix
  const waiting = [start]
  const matches: string[] = []
  for (let listings = 0; waiting.length > 0; listings += 1) {
    const { path, rest } = waiting.pop() ?? start
    const names = listings < LISTINGS_MAX ? listFolders(path) : null
    if (names === null) return null
    if (rest === '') matches.push(path)
    for (const name of names) {
      const after = restAfter(slugOf(name), rest)
      if (after !== null) waiting.push({ path: paths.join(path, name), rest: after })
    }
  }
  return matches.length === 1 ? (matches[0] ?? null) : null
}

interface Candidate {
  readonly path: string
  /** The part of the slug that the path does not cover yet. */
  readonly rest: string
}

/** A window without a folder has a fixed name, or only the digits of its id. */
export const isWithoutFolder = (slug: string): boolean => slug === 'empty-window' || /^\d*$/.test(slug)

function startOf(slug: string, platform: NodeJS.Platform): Candidate | null {
  if (isWithoutFolder(slug)) return null
  if (platform !== 'win32') return { path: '/', rest: slugOf(slug) }
  const [, drive, rest] = /^([a-z])-+(.+)$/i.exec(slug) ?? []
  return drive === undefined || rest === undefined ? null : { path: `${drive}:\\`, rest: slugOf(rest) }
}

/** Some versions write one `-` per character, others one per run of characters. Treating a run as one covers both. */
const slugOf = (name: string): string => name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '')

/** A name without Latin letters and digits leaves nothing in the slug. */
function restAfter(name: string, rest: string): string | null {
  if (name === '') return rest
  if (name === rest) return ''
  return rest.startsWith(`${name}-`) ? rest.slice(name.length + 1) : null
}
