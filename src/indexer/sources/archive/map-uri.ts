import { UserError } from '../../../model/user-error.ts'
import { normaliseRoot } from '../../projects/root-uri.ts'

/** Where a folder named in an archive is on this machine. */
export type MapUri = (uri: string) => string

/**
 * Reads a mapping of folders. It replaces whole segments of a path: `/home/a` does not affect `/home/ada`. If several
 * apply, the longest wins, and a mapped path is not mapped again.
 * @param map folders by their former names, each with its name on this machine: absolute paths or URIs
 * @throws UserError `bad-map`, exit code 2, with the reason
 */
export function readMap(map: Readonly<Record<string, string>>): MapUri {
  const rules = Object.entries(map).map(([folder, target]) => ({ from: prefixOf(folder), to: prefixOf(target) }))
  rules.sort((a, b) => b.from.length - a.from.length)
  const twice = rules.find(({ from }, index) => rules.findIndex((rule) => rule.from === from) < index)
  if (twice !== undefined) throw badMap(`The folder ${twice.from} is mapped twice.`)
  return (uri) => {
    const rule = rules.find(({ from }) => `${uri}/`.startsWith(`${from}/`))
    return rule === undefined ? uri : `${rule.to}${uri.slice(rule.from.length)}`
  }
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

const badMap = (text: string): UserError =>
  new UserError('bad-map', text, 'Map folders as in /Users/a=/home/b, with whole paths on both sides.', { exitCode: 2 })
