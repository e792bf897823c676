import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'

/** A path as Windows writes it, as the mirror keeps it: the drive in small letters, all slashes one way. */
const asKept = (path: string): string =>
  /^[a-z]:[/\\]/iu.test(path) ? path.charAt(0).toLowerCase() + path.slice(1).replaceAll('\\', '/') : path

const PROJECT_NUMS = `
  with wanted as (select value from json_each(@spellings))
  select num
  from projects
  where id in (select value from wanted) or name in (select value from wanted) or path in (select value from wanted)
  order by num
`

/**
 * Row numbers of the projects that these words name: each an id, an exact name or a path, with or without its last
 * slash. Two projects may share a name, and both are meant. What nothing is called gives nothing.
 */
export function resolveProjects(db: Mirror, words: readonly string[]): number[] {
  const spellings = words.flatMap((word) => {
    const bare = word.replace(/(?<=[^/\\:])[/\\]+$/u, '')
    return [word, bare, asKept(bare)]
  })
  // Some disks of macOS part letters from their marks, and keyboards do not: on a screen both are the same.
  const composed = spellings.flatMap((spelling) => [spelling, spelling.normalize('NFC'), spelling.normalize('NFD')])
  const rows = prepared<{ num: number }>(db, PROJECT_NUMS).all({ spellings: JSON.stringify(composed) })
  return rows.map(({ num }) => num)
}
