import { UserError } from '../../../model/user-error.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'

/** Where a folder that an archive names lies on this machine. */
export type MapUri = (uri: string) => string

/** Folders as they were called, each with what it is called here: absolute paths or URIs. */
export type FolderMap = Readonly<Record<string, string>>

/** A mapping that remembers which of its folders it was of use for. */
export interface FolderMapping {
  readonly mapUri: MapUri
  /** Folders, as they were given, that have fitted nothing so far. */
  unused(): readonly string[]
}

interface Rule {
  readonly given: string
  readonly from: readonly string[]
  readonly to: string
}

/**
 * Reads a mapping of folders. Whole segments of a path are replaced: `/home/a` does not touch `/home/ada`. Of several that
 * fit the longest counts, and what was mapped is not mapped again.
 * @throws UserError `bad-map`, exit code 2, that names what is wrong with it
 */
export function readMap(map: FolderMap): FolderMapping {
  const rules = new Map<string, Rule>()
  for (const [folder, target] of Object.entries(map)) {
    const from = compared(prefixOf(folder))
    const key = from.join('/')
    if (rules.has(key)) throw badMap(`The folder ${prefixOf(folder)} is mapped twice.`)
    rules.set(key, { given: folder, from, to: prefixOf(target) })
  }
  const ordered = [...rules.values()].sort((a, b) => b.from.length - a.from.length)
  const used = new Set<Rule>()
  return {
    mapUri: (uri) => {
      const rule = ruleFor(uri, ordered)
      if (rule === undefined) return uri
      used.add(rule)
      return [rule.to, ...uri.split('/').slice(rule.from.length)].join('/')
    },
    unused: () => ordered.filter((rule) => !used.has(rule)).map(({ given }) => given),
  }
}

function ruleFor(uri: string, rules: readonly Rule[]): Rule | undefined {
  const segments = compared(uri)
  return rules.find(({ from }) => from.every((segment, at) => segment === segments[at]))
}

/** As projects' roots are spelt, without a slash at the end, so that a root alone is the beginning of all below it. */
function prefixOf(folder: string): string {
  const isAbsolute = /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(folder)
  const root = isAbsolute ? normaliseRoot(folder) : null
  if (root === null) throw badMap(`"${folder.slice(0, 200)}" is not an absolute path or a URI.`)
  return root.uri.replace(/\/$/, '')
}

/** A drive, here or on a machine beyond, or a network folder. */
const isOfWindows = (uri: string): boolean => /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/[a-z]:(?:\/|$)|file:\/\/[^/])/.test(uri)

/** The segments of a URI as they are compared: Windows does not tell upper case from lower, whatever the letters. */
const compared = (uri: string): readonly string[] =>
  isOfWindows(uri) ? uri.split('/').map((segment) => folded(decoded(segment))) : uri.split('/')

/** Sign by sign, as Windows does it: what has no capital of its own, as ß, is left. */
const folded = (text: string): string =>
  text.replaceAll(/./gsu, (sign) => (sign.toUpperCase().length === sign.length ? sign.toUpperCase() : sign))

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    // Of a path that was not spelt as roots are.
    if (error instanceof URIError) return segment
    throw error
  }
}

const badMap = (text: string): UserError =>
  new UserError('bad-map', text, 'Map folders as in /Users/a=/home/b, each with the whole path.', { exitCode: 2 })
