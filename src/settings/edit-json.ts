import { getNodeValue, type Node } from 'jsonc-parser'
import { UserError } from '../model/user-error.ts'
import { parseJsonc } from './config-text.ts'

/**
 * Sets a member of an object in a JSON text. Every other byte stays: comments, order, indents, line ends, a BOM.
 * An empty text counts as `{}`.
 * @param file its path, for errors
 * @param path the key of the object in the text, and the key in that object
 * @throws UserError `bad-json` if the text is not JSON with comments, if either key stands there twice, or if something
 *   else than an object has the first key
 */
export function editJson(file: string, text: string, path: readonly [string, string], value: unknown): string {
  const refuse = (what: string): UserError =>
    new UserError('bad-json', `${file} ${what}.`, 'Repair it, or name another file with --file.')
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const given = text.trim() === '' ? '{\n}\n' : text.slice(bom.length)
  const { root: tree, errors } = parseJsonc(given)
  if (errors.length > 0 || tree?.type !== 'object') throw refuse('is not a JSON object')
  const only = (object: Node, key: string): Node | null => {
    const [first = null, second] = (object.children ?? []).filter((member) => member.children?.[0]?.value === key)
    if (second !== undefined) throw refuse(`has "${key}" twice`)
    return first
  }
  const [outer, name] = path
  const group = only(tree, outer)?.children?.[1]
  if (group === undefined) return bom + add(given, tree, outer, { [name]: value })
  if (group.type !== 'object') throw refuse(`has "${outer}" as ${group.type}, not as an object`)
  const member = only(group, name)
  if (member === null) return bom + add(given, group, name, value)
  const [, former] = member.children ?? []
  if (former === undefined || JSON.stringify(getNodeValue(former)) === JSON.stringify(value)) return text
  return bom + given.slice(0, former.offset) + shown(given, value, member.offset) + given.slice(endOf(former))
}

const endOf = ({ offset, length }: Node): number => offset + length

/** The white space at the beginning of the line. */
const indentAt = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''

const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
const unitOf = (text: string): string => /\n(\t| +)\S/.exec(text)?.[1] ?? '  '

/** A value as it stands in a text: on lines of its own if the text has lines. @param at where its member begins */
function shown(text: string, value: unknown, at: number, indent = indentAt(text, at)): string {
  if (!text.includes('\n')) return JSON.stringify(value)
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${lineEndOf(text)}${indent}`)
}

/** The index of the comma in a text between two members; -1 if there is none. Commas in comments do not count. */
const commaIn = (between: string): number =>
  between.replace(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => ' '.repeat(comment.length)).indexOf(',')

/** Adds a member as the last one, behind all comments. */
function add(text: string, object: Node, key: string, value: unknown): string {
  const last = object.children?.at(-1)
  const from = last === undefined ? object.offset + 1 : endOf(last)
  const rest = text.slice(from, endOf(object) - 1)
  const [kept, space] = [rest.trimEnd(), rest.slice(rest.trimEnd().length)]
  const comma = last === undefined || commaIn(rest) >= 0 ? '' : ','
  const outer = indentAt(text, object.offset)
  const inner = last === undefined ? outer + unitOf(text) : indentAt(text, last.offset)
  const hasLines = text.includes('\n')
  const begin = hasLines ? lineEndOf(text) + inner : ''
  const end = hasLines && !space.includes('\n') ? lineEndOf(text) + outer : ''
  const member = `${begin}${JSON.stringify(key)}: ${shown(text, value, object.offset, inner)}${end}`
  return text.slice(0, from) + comma + kept + member + text.slice(from + kept.length)
}
