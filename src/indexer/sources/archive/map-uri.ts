import { UserError } from '../../../model/user-error.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'

/** Where a folder named in an archive is on this machine. */
export type MapUri = (uri: string) => string

/** Folders by their former names, each with its name on this machine: absolute paths or URIs. */
export type FolderMap = Readonly<Record<string, string>>

/** A mapping that remembers which of its folders applied to anything. */
export interface FolderMapping {
  readonly mapUri: MapUri
  /** Folders, as they were given, that have applied to nothing so far. */
  unused(): readonly string[]
}

interface Rule {
  readonly given: string
  readonly from: readonly string[]
  readonly to: string
}

/**
 * Reads a mapping of folders. It replaces whole segments of a path: `/home/a` does not affect `/home/ada`. If several
 * apply, the longest wins, and a mapped path is not mapped again.
 * @throws UserError `bad-map`, exit code 2, with the reason
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

/**
 * Normalised like a project's root, without a trailing slash, so that even a root folder is a prefix of everything
 * below it.
 */
function prefixOf(folder: string): string {
  const isAbsolute = /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(folder)
  const root = isAbsolute ? normaliseRoot(folder) : null
  if (root === null) throw badMap(`"${folder.slice(0, 200)}" is not an absolute path or a URI.`)
  return root.uri.replace(/\/$/, '')
}

/** A drive, local or remote, or a network folder. */
const isOfWindows = (uri: string): boolean => /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/[a-z]:(?:\/|$)|file:\/\/[^/])/.test(uri)

/** The segments of a URI for comparison: Windows ignores case, in all alphabets. */
const compared = (uri: string): readonly string[] =>
  isOfWindows(uri) ? uri.split('/').map((segment) => folded(decoded(segment))) : uri.split('/')

/** Character by character, as Windows does it: a letter without a single capital, such as ß, is unchanged. */
const folded = (text: string): string =>
  text.replaceAll(/./gsu, (sign) => (sign.toUpperCase().length === sign.length ? sign.toUpperCase() : sign))

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    // The path was not spelled like a normalised root.
    if (error instanceof URIError) return segment
    throw error
  }
}

const badMap = (text: string): UserError =>
  new UserError('bad-map', text, 'Map folders as in /Users/a=/home/b, with whole paths on both sides.', { exitCode: 2 })
