import type { Json } from '../../model/json.ts'
import type { Part } from '../../model/part.ts'
import { stretchesOf, withoutEscapes, withoutOrders } from '../passages/stretches.ts'
import { GAP_TERM, indexTerms } from './terms.ts'

/** The columns of the full-text table. The first one wins if two match a query equally well. */
export const columnNames = ['text', 'code', 'tool', 'thinking', 'attachment', 'plan', 'summary'] as const
export type ColumnName = (typeof columnNames)[number]

/** The searchable text of each kind of part. */
export type ColumnTexts = Readonly<Record<ColumnName, string>>

/** UTF-16 units of one tool call's input, and of its output. */
const TOOL_DATA_LENGTH_MAX = 65_536
/** Characters of all parts of one kind in one message, without their paths and separators. */
const KIND_CHARACTERS_MAX = 2_000_000
/** UTF-16 units of one column for the content hash. It cannot be changed: mirrors contain hashes of texts cut like this. */
const COLUMN_LENGTH_MAX = 2_097_152
const DEPTH_MAX = 200
const SEPARATOR = '\n\n'

/** The searchable texts of a message by column of the full-text table, as written: not split into terms yet. */
export function searchColumns(parts: readonly Part[]): ColumnTexts {
  const texts = capKinds(parts, parts.map(searchableText))
  return gather(parts.flatMap((part, at) => piecesOf(part, texts[at] ?? '')))
}

/**
 * The same, with each part complete under its own kind. The content hash of a message is computed from this, so it does
 * not change when the indexing rules change. `isCapped` is false if all of it can be found.
 */
export function wholeColumns(parts: readonly Part[]): { readonly columns: ColumnTexts; readonly isCapped: boolean } {
  const texts = parts.map((part) => textOf(part, asItIs))
  const found = gather(parts.map(({ kind }, at) => ({ text: texts[at] ?? '', column: columnOf(kind) })))
  const isCapped =
    parts.some(hasCutData) || capKinds(parts, texts).some((text, at) => text.length < (texts[at] ?? '').length)
  return { columns: eachColumn((column) => cutText(found[column], COLUMN_LENGTH_MAX)), isCapped }
}

/** The texts of parts, cut to the indexed length of each kind. */
function capKinds(parts: readonly Part[], texts: readonly string[]): readonly string[] {
  // There are at most as many characters as units, so nearly no message needs counting by character.
  if (texts.reduce((sum, { length }) => sum + length, 0) <= KIND_CHARACTERS_MAX) return texts
  const room = new Map<Part['kind'], number>()
  return parts.map((part, at) => {
    const text = texts[at] ?? ''
    const left = room.get(part.kind) ?? KIND_CHARACTERS_MAX
    const path = 'path' in part && part.path !== null && part.text !== null ? part.path.length + 1 : 0
    const first = firstCharacters(text, left + path)
    room.set(part.kind, left - Math.max(0, first.characters - path))
    return first.text
  })
}

/** The beginning of a text and its number of characters: two UTF-16 units may be one character. */
function firstCharacters(text: string, max: number): { readonly text: string; readonly characters: number } {
  let at = 0
  let characters = 0
  for (; at < text.length && characters < max; characters += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return { text: text.slice(0, at), characters }
}

function gather(pieces: readonly Piece[]): ColumnTexts {
  const texts = eachColumn<string[]>(() => [])
  for (const { text, column } of pieces) if (text !== '') texts[column].push(text)
  return eachColumn((column) => texts[column].join(SEPARATOR))
}

/** In the order in which the content hash of a message takes them. */
const HASHED: readonly ColumnName[] = ['text', 'thinking', 'code', 'tool', 'attachment', 'plan', 'summary']

const eachColumn = <Value>(of: (column: ColumnName) => Value): Record<ColumnName, Value> =>
  Object.fromEntries(HASHED.map((column) => [column, of(column)])) as Record<ColumnName, Value>

/** The text of a part in one column. */
export interface Piece {
  readonly text: string
  readonly column: ColumnName
}

/** The searchable texts of one part, by column. Fenced code in a text belongs to the column `code`. */
export const searchablePieces = (part: Part): readonly Piece[] => piecesOf(part, searchableText(part))

function piecesOf(part: Part, text: string): readonly Piece[] {
  const stretches = part.kind === 'text' ? stretchesOf(text) : null
  if (stretches === null) return [{ text, column: columnOf(part.kind) }]
  const join = (isCode: boolean): string =>
    stretches
      .filter((stretch) => stretch.isCode === isCode)
      .map(({ start, end }) => text.slice(start, end))
      .join(SEPARATOR)
  return [
    { text: join(false), column: 'text' },
    { text: join(true), column: 'code' },
  ]
}

/** The column of a kind of part. */
export function columnOf(kind: Part['kind']): ColumnName {
  return kind === 'todo' || kind === 'error' ? 'text' : kind
}

/** The searchable text of one part, without terminal sequences and JSON escapes. */
export const searchableText = (part: Part): string => textOf(part, asRead)

/** How texts are converted: those of the part itself, and those in a tool's input and output. */
interface Spelling {
  readonly own: (text: string) => string
  readonly data: (text: string) => string
}

const asItIs: Spelling = { own: (text) => text, data: (text) => text }
const asRead: Spelling = { own: withoutOrders, data: (text) => withoutOrders(withoutEscapes(text)) }

function textOf(part: Part, spelling: Spelling): string {
  const { own } = spelling
  switch (part.kind) {
    case 'text':
    case 'thinking':
    case 'error':
    case 'summary':
      return whole([own(part.text)])
    case 'plan':
      return whole([part.title, part.path, own(part.text)])
    case 'code':
    case 'attachment':
      return whole([part.path, part.text === null ? null : own(part.text)])
    case 'todo':
      return whole(part.items.map((item) => item.content))
    default: {
      const [input, output] = [part.input, part.output].map((value) => stringLeaves(value, spelling.data).text)
      return whole([part.name, ...part.paths, input ?? '', output ?? '', part.error === null ? null : own(part.error)])
    }
  }
}

const whole = (pieces: readonly (string | null)[]): string =>
  pieces.filter((piece) => piece !== null && piece !== '').join('\n')

const hasCutData = (part: Part): boolean =>
  part.kind === 'tool' && [part.input, part.output].some((value) => stringLeaves(value, asItIs.data).isCapped)

/** The strings of a JSON value in document order. Nobody searches for keys and numbers. */
function stringLeaves(
  value: Json,
  spell: (text: string) => string,
): { readonly text: string; readonly isCapped: boolean } {
  const leaves: string[] = []
  let left = TOOL_DATA_LENGTH_MAX
  let isCapped = false
  const visit = (each: Json, depth: number): void => {
    // Nothing more can be taken, and that is known.
    if (isCapped && left <= 0) return
    if (typeof each === 'string') {
      const room = Math.max(0, left)
      isCapped ||= each.length > room
      if (room > 0) leaves.push(spell(cutText(each, room)))
      left -= each.length + 1
    } else if (typeof each === 'object' && each !== null) {
      if (depth >= DEPTH_MAX) isCapped = true
      else for (const inner of Object.values(each)) visit(inner, depth + 1)
    }
  }
  visit(value, 0)
  return { text: leaves.filter((leaf) => leaf !== '').join('\n'), isCapped }
}

function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

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
  return (part.kind === 'code' || part.kind === 'attachment' || part.kind === 'plan') && part.path !== null
    ? [part.path]
    : []
}

/** The terms of a path as written, and after a gap in lower case, as users mostly type it. */
function pathTerms(path: string): string {
  const spelt = indexTerms(path)
  const lowered = indexTerms(path.toLowerCase())
  const terms = spelt === lowered ? spelt : `${spelt} ${GAP_TERM} ${lowered}`
  return terms.replaceAll(/[^ ]+/g, (term) => asPathTerm(term))
}

export const asPathTerm = (term: string): string => PATH_SIGN + term

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
