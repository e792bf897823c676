import { Trouble } from '../../../model/trouble.ts'
import { normaliseRoot } from '../../root-uri.ts'

/** Where a folder that an archive names lies on this machine. */
export type MapUri = (uri: string) => string

/** Folders as they were called, each with what it is called here: absolute paths or URIs. */
export type FolderMap = Readonly<Record<string, string>>

interface Rule {
  readonly from: string
  readonly to: string
  /** Windows does not tell upper case from lower. */
  readonly isFolded: boolean
}

/**
 * Reads a mapping of folders. Whole segments of a path are replaced: `/home/a` does not touch `/home/ada`. Of several that
 * fit the longest counts, and what was mapped is not mapped again.
 * @throws Trouble `bad-map`, exit code 2, that names what is wrong with it
 */
export function readMap(map: FolderMap): MapUri {
  const rules = Object.entries(map).map(([from, to]) => {
    const rule = { from: prefixOf(from), to: prefixOf(to), isFolded: isOnDrive(prefixOf(from)) }
    return { ...rule, from: fold(rule.from, rule.isFolded) }
  })
  const repeated = rules.find(({ from }, index) => rules.findIndex((rule) => rule.from === from) !== index)
  if (repeated !== undefined) throw badMap(`The folder ${repeated.from} is mapped twice.`)
  rules.sort((a, b) => b.from.length - a.from.length)
  return (uri) => mapped(uri, rules)
}

function mapped(uri: string, rules: readonly Rule[]): string {
  for (const { from, to, isFolded } of rules) {
    if (!fold(uri, isFolded).startsWith(from)) continue
    const rest = uri.slice(from.length)
    if (rest === '' || rest.startsWith('/')) return `${to}${rest}`
  }
  return uri
}

/** As projects' roots are spelt, without a slash at the end, so that a root alone is the beginning of all below it. */
function prefixOf(folder: string): string {
  const isAbsolute = /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(folder)
  const root = isAbsolute ? normaliseRoot(folder) : null
  if (root === null) throw badMap(`"${folder.slice(0, 200)}" is not an absolute path or a URI.`)
  return root.uri.replace(/\/$/, '')
}

const isOnDrive = (prefix: string): boolean => /^file:\/\/\/[a-z]:/.test(prefix)
const fold = (text: string, isFolded: boolean): string => (isFolded ? text.toLowerCase() : text)

const badMap = (text: string): Trouble =>
  new Trouble('bad-map', text, 'Map folders as in /Users/a=/home/b, each with the whole path.', { exitCode: 2 })
