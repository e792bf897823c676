import type { Part } from '../../model/part.ts'
import { columnOf } from './columns.ts'
import { stretchesOf } from '../passages/fences.ts'
import { GAP_TERM } from './lowered-words.ts'
import { indexTerms } from './terms.ts'

/** Characters that no word contains, so a typed word never matches a mark. */
const MARK_SIGN = '\ue001'
const JOINT_SIGN = '\ue002'
const PATH_SIGN = '\ue003'

const PATHS_MAX = 500
const NAME_LENGTH_MAX = 200

/**
 * Marks describe a message apart from its words: the kinds of its parts (`in:code`), its features (`has:error`) and its
 * tools (`tool:read_file`), each once.
 */
export function marksOf(parts: readonly Part[]): readonly string[] {
  return [...new Set(parts.flatMap((part) => [`in:${columnOf(part.kind)}`, ...factsOf(part)]))]
}

function factsOf(part: Part): readonly string[] {
  switch (part.kind) {
    case 'tool':
      return [`tool:${part.name}`, ...(part.status === 'error' || part.error !== null ? ['has:error'] : [])]
    case 'text':
      // Newer messages have their code in the text.
      return stretchesOf(part.text) === null ? [] : ['in:code', 'has:code']
    case 'code':
    case 'thinking':
    case 'error':
      return [`has:${part.kind}`]
    default:
      return []
  }
}

/** A message's marks and paths, as terms for their own column. */
export function markTerms(parts: readonly Part[]): string {
  const paths = [...new Set(parts.flatMap(pathsOf))].slice(0, PATHS_MAX)
  return [...marksOf(parts).map(markTerm), ...paths.map((path) => `${PATH_SIGN} ${pathTerms(path)}`)].join(' ')
}

/** The files that a part of a message names. */
export function pathsOf(part: Part): readonly string[] {
  if (part.kind === 'tool') return part.paths
  return (part.kind === 'code' || part.kind === 'attachment') && part.path !== null ? [part.path] : []
}

/** The terms of a path as written, and after a gap in lower case, as users mostly type it. */
function pathTerms(path: string): string {
  const spelt = indexTerms(path)
  const lowered = indexTerms(path.toLowerCase())
  const terms = spelt === lowered ? spelt : `${spelt} ${GAP_TERM} ${lowered}`
  return terms
    .split(' ')
    .filter((term) => term !== '')
    .map(asPathTerm)
    .join(' ')
}

export const asPathTerm = (term: string): string => PATH_SIGN + term

/** The word of a path that a term represents; null for other terms. */
export const pathWordOf = (term: string): string | null =>
  term.length > 1 && term.startsWith(PATH_SIGN) ? term.slice(PATH_SIGN.length) : null

/** The term for a mark. Case and punctuation do not matter: `read_file` and `Read-File` are the same tool. */
export const markTerm = (mark: string): string => MARK_SIGN + foldName(mark)

/** Normalises a name, so that spellings of the same name become equal. */
export function foldName(name: string): string {
  const short = Array.from(name.toLowerCase()).slice(0, NAME_LENGTH_MAX).join('')
  // oxlint-disable-next-line no-control-regex
  return short.replaceAll(/(?:(?![a-z\d])[\u0000-\u007f])+/g, JOINT_SIGN).replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** True for a term that no text contains: a mark, or a gap between words. */
export const isSignTerm = (term: string): boolean => /^[\ue000-\ue003]/.test(term)
