import { applyEdits, modify, type Node } from 'jsonc-parser'
import { UserError } from '../model/user-error.ts'
import { parseJsonc } from './config-text.ts'

/**
 * Sets or removes a member of an object in a JSON text. Every other sign stays. A comment behind the last member stands behind
 * one that is added, and one between a removed member and the one before goes with it. An empty text counts as `{}`.
 * @param file its path, for errors
 * @param path the key of the object in the text, and the key in that object
 * @param value undefined removes it
 * @throws UserError `bad-json` if the text is not JSON with comments, if either key stands there twice, or if something
 *   else than an object has the first key
 */
export function editJson(file: string, text: string, path: readonly [string, string], value: unknown): string {
  const refuse = (what: string): UserError =>
    new UserError('bad-json', `${file} ${what}.`, 'Repair it, or name another file with --file.')
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const given = text.trim() === '' ? '{\n}\n' : text.slice(bom.length)
  const { root, errors } = parseJsonc(given)
  if (errors.length > 0 || root?.type !== 'object') throw refuse('is not a JSON object')
  const valueOf = (object: Node | undefined, key: string): Node | undefined => {
    const members = object?.children?.filter(({ children }) => children?.[0]?.value === key) ?? []
    if (members.length > 1) throw refuse(`has "${key}" twice`)
    return members[0]?.children?.[1]
  }
  const [outer, name] = path
  const group = valueOf(root, outer)
  if (group !== undefined && group.type !== 'object') throw refuse(`has "${outer}" as ${group.type}, not as an object`)
  if (valueOf(group, name) === undefined && value === undefined) return text
  const edits = modify(given, [outer, name], value, {})
  const depth = group === undefined ? 1 : 2
  return (
    bom +
    applyEdits(
      given,
      value === undefined ? edits : edits.map((edit) => ({ ...edit, content: laidOut(given, edit.content, depth) })),
    )
  )
}

/** On lines of its own if the text has lines. @param content a value, or a member, which a comma precedes unless it is the first */
function laidOut(text: string, content: string, depth: number): string {
  if (!text.includes('\n')) return content
  const unit = /\n(\t| +)\S/.exec(text)?.[1] ?? '  '
  const lineAt = (level: number): string => (text.includes('\r\n') ? '\r\n' : '\n') + unit.repeat(level)
  const [, comma = '', key = '', json = ''] = /^(,?)("[^"]*": )?(.*)$/s.exec(content) ?? []
  const value = JSON.stringify(JSON.parse(json), null, unit).replaceAll('\n', lineAt(depth))
  if (key === '') return value
  return `${comma}${lineAt(depth)}${key}${value}${comma === '' ? lineAt(depth - 1) : ''}`
}
