import { stored } from './match-project.ts'

/**
 * Whether Cursor may have made this name from the path of a project that one of the patterns names, or from the path of
 * a workspace file below it. Such a name has `-` for each character other than Latin letters and digits, or for each run
 * of them; some versions keep `_`. So one name stands for many paths: `a-b` is `a/b`, `a.b` or `a b`.
 * @param patterns as for `isOfProject`
 */
export function mayBeOfProject(slug: string, patterns: readonly string[]): boolean {
  const globs = patterns.map(stored).flatMap((glob) => (glob.includes('/') ? [glob] : [`/${glob}`, `**/${glob}`]))
  return globs.map(piecesOf).some((pieces) => pieces.length > 0 && fits(slug, pieces))
}

/** The glob's characters as regular expressions. A name does not show where a folder ends, so `*` matches all of it. */
function piecesOf(glob: string): readonly string[] {
  const signs = glob.replace(/^[^A-Za-z0-9*?]+/, '').match(/[*?]*\*[*?]*|\?|[A-Za-z0-9]|[^A-Za-z0-9*?]+/g) ?? []
  return signs.map((sign, at) => {
    // Several wildcards in a row would be tried in every combination.
    if (sign.includes('*')) return '.*'
    if (sign === '?') return '.?'
    if (/^[A-Za-z0-9]$/.test(sign)) return sign
    // The end of a path may have been trimmed. After a wildcard that would match every name.
    return at === signs.length - 1 && signs[at - 1]?.includes('*') !== true ? '[-_]*' : '[-_]+'
  })
}

const WORKSPACE_FILE = '(?:[-_]+(?:.+[-_])?(?:code[-_]+workspace|workspace[-_]+json))?'

/** A long name is cut and ends in a hash. Where Cursor cuts is not known. */
const CUT = /^(.{40,})-(?=[a-z]*[0-9])[0-9a-z]{6,}$/i

const matches = (text: string, source: string): boolean => new RegExp(`^${source}$`, 'i').test(text)

function fits(slug: string, pieces: readonly string[]): boolean {
  const whole = pieces.join('')
  if (matches(slug, `${whole}${WORKSPACE_FILE}`)) return true
  const [, cut] = CUT.exec(slug) ?? []
  if (cut === undefined) return false
  return matches(cut, `${whole}[-_].*`) || pieces.some((_, at) => matches(cut, pieces.slice(0, at + 1).join('')))
}
