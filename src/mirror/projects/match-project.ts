import { createHash } from 'node:crypto'
import type { Root } from '../../model/change.ts'

/** The id of a project: a hash of its normalised root URI. */
export const projectIdOf = (uri: string): string => createHash('sha256').update(uri).digest('hex').slice(0, 16)

/**
 * Whether one of the patterns names the project. A pattern with a slash is a path, in which `?` and `*` match within one
 * folder's name, and `**` matches anything. Any other pattern is a name or an id.
 */
export function isOfProject(
  { uri, path, name }: Pick<Root, 'uri' | 'path' | 'name'>,
  patterns: readonly string[],
): boolean {
  return patterns.some((pattern) => {
    const wanted = stored(pattern)
    if (!wanted.includes('/')) return wanted === name.normalize('NFC') || wanted === projectIdOf(uri)
    return globOf(wanted).test(path.normalize('NFC'))
  })
}

/** As the mirror stores paths: slashes, and a lower-case drive letter. Some macOS disks store accents apart from letters. */
export function stored(pattern: string): string {
  const composed = pattern.normalize('NFC')
  const isOfWindows = /^[a-z]:[/\\]/iu.test(composed)
  return isOfWindows ? composed.charAt(0).toLowerCase() + composed.slice(1).replaceAll('\\', '/') : composed
}

const WILDCARDS: Readonly<Record<string, string>> = { '**': '.*', '*': '[^/]*', '?': '[^/]' }

function globOf(pattern: string): RegExp {
  const bare = pattern.replace(/(?<=[^/:])\/+$/, '')
  const source = bare.replaceAll(/\*\*|[*?]|[\\^$.+()[\]{}|]/g, (sign) => WILDCARDS[sign] ?? `\\${sign}`)
  return new RegExp(`^${source}$`, 'su')
}
