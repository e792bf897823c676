import * as jsonc from 'jsonc-parser'
import { UserError } from '../model/user-error.ts'
import type * as z from 'zod/mini'
import { settingsSchema, type SettingsTree } from './schema.ts'

/**
 * Parses a config file: JSON with comments and trailing commas. An empty file is allowed.
 * @throws UserError `bad-config` if the text does not parse, with line and column, starting at 1
 */
export function configLayer(text: string, file: string): Layer {
  const json = text.replace(/^\uFEFF/, '')
  const placeAt = (offset: number): string => {
    const lines = json.slice(0, offset).split(/\r\n|\r|\n/)
    return `${file}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
  }
  const { root, errors } = parseJsonc(json)
  const [first] = errors
  if (first !== undefined) {
    const what = jsonc.printParseErrorCode(first.error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    const problem = `The config file cannot be parsed at ${placeAt(first.offset)}: ${what.toLowerCase()}.`
    const hint = 'The file must be JSON; comments and trailing commas are allowed.'
    throw new UserError('bad-config', problem, hint, { exitCode: 2 })
  }
  if (root !== undefined && root.type !== 'object') {
    const problem = `The config file must contain an object, but its type is ${root.type} (${placeAt(root.offset)}).`
    throw new UserError('bad-config', problem, 'Write { … } with the settings as keys.', { exitCode: 2 })
  }
  return {
    tree: root === undefined ? {} : jsonc.getNodeValue(root),
    placeOf: (path) => placeAt(root === undefined ? 0 : offsetOf(root, path)),
  }
}

/** JSON with comments and trailing commas. One that is nested too deep for the parser, which calls itself, is wrong at its begin. */
export function parseJsonc(text: string): {
  readonly root: jsonc.Node | undefined
  readonly errors: readonly jsonc.ParseError[]
} {
  const errors: jsonc.ParseError[] = []
  try {
    return { root: jsonc.parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true }), errors }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // 1 is an invalid symbol.
    return { root: undefined, errors: [{ error: 1, offset: 0, length: 1 }] }
  }
}

function offsetOf(root: jsonc.Node, path: KeyPath): number {
  for (let depth = path.length; depth > 0; depth--) {
    const keys = path.slice(0, depth).map((key) => (typeof key === 'number' ? key : String(key)))
    const node = jsonc.findNodeAtLocation(root, keys)
    // The value's parent is the property. A reader looks for the key.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent.offset : node.offset
  }
  return root.offset
}

export type KeyPath = readonly PropertyKey[]

/** Settings from one place: any keys with any values, not validated yet. */
export interface Layer {
  readonly tree: unknown
  /** The place of a key, or of the nearest key around it: `/home/a/config.json:3:9`, `flag --port`. */
  readonly placeOf: (path: KeyPath) => string
}

/**
 * Merges the layers, later over earlier, and validates the result after each one. So a wrong value is reported even if a
 * later layer overrides it. The first layer must contain every key.
 * @throws UserError `bad-setting` or `unknown-setting`, with the key, its place and the allowed values
 */
export function judge(layers: readonly Layer[]): SettingsTree {
  let tree: unknown = {}
  let settled: SettingsTree | null = null
  for (const layer of layers) {
    tree = layOver(tree, layer.tree)
    const verdict = settingsSchema.safeParse(tree)
    if (!verdict.success) throw refusal(verdict.error.issues, tree, layer)
    settled = verdict.data
  }
  if (settled === null) throw new Error('Settings need a first layer.')
  return settled
}

/** @param layer the one with which the tree became wrong */
function refusal(issues: readonly z.core.$ZodIssue[], tree: unknown, { placeOf }: Layer): UserError {
  // An unknown key is often the reason why another one is missing, so it is reported first.
  const issue = issues.find((each) => each.code === 'unrecognized_keys') ?? issues[0]
  if (issue === undefined) throw new Error('The settings were refused without a reason.')
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path
  const [name, place] = [path.length === 0 ? 'The whole configuration' : dotted(path), placeOf(path)]
  if (issue.code === 'unrecognized_keys') {
    const text = `${name} is not a setting of cursordex (${place}).`
    return new UserError('unknown-setting', text, issue.message, { exitCode: 2 })
  }
  const value = valueAt(tree, path)
  const found = value === undefined ? 'is missing' : `is ${shown(value)}`
  return new UserError('bad-setting', `${name} ${found} (${place}).`, `It must be ${issue.message}.`, { exitCode: 2 })
}

const dotted = (path: KeyPath) =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')

function shown(given: unknown): string {
  const json = JSON.stringify(given) ?? String(given)
  return json.length > 80 ? `${json.slice(0, 79)}…` : json
}

const isTree = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** Merges two trees, the second over the first: objects key by key, other values as a whole. */
export function layOver(below: unknown, above: unknown): unknown {
  if (!isTree(below) || !isTree(above)) return above
  // `fromEntries` creates an own key even for `__proto__`, so every key of a file is validated.
  return Object.fromEntries([
    ...Object.entries(below),
    ...Object.entries(above).map(([key, given]) => [
      key,
      Object.hasOwn(below, key) ? layOver(below[key], given) : given,
    ]),
  ])
}

/** Undefined if a tree does not have the path. */
export const valueAt = (tree: unknown, path: KeyPath): unknown =>
  path.reduce<unknown>(
    (here, key) =>
      typeof here === 'object' && here !== null && Object.hasOwn(here, key) ? Reflect.get(here, key) : undefined,
    tree,
  )

/** A tree with one value. */
export const treeOf = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

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
  const only = (object: jsonc.Node, key: string): jsonc.Node | null => {
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
  if (former === undefined || JSON.stringify(jsonc.getNodeValue(former)) === JSON.stringify(value)) return text
  return bom + given.slice(0, former.offset) + jsonAt(given, value, member.offset) + given.slice(endOf(former))
}

const endOf = ({ offset, length }: jsonc.Node): number => offset + length

/** The white space at the beginning of the line. */
const indentAt = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? ''

const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
const unitOf = (text: string): string => /\n(\t| +)\S/.exec(text)?.[1] ?? '  '

/** A value as it stands in a text: on lines of its own if the text has lines. @param at where its member begins */
function jsonAt(text: string, value: unknown, at: number, indent = indentAt(text, at)): string {
  if (!text.includes('\n')) return JSON.stringify(value)
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', `${lineEndOf(text)}${indent}`)
}

/** The index of the comma in a text between two members; -1 if there is none. Commas in comments do not count. */
const commaIn = (between: string): number =>
  between.replace(/\/\*[^]*?\*\/|\/\/.*/g, (comment) => ' '.repeat(comment.length)).indexOf(',')

/** Adds a member as the last one, behind all comments. */
function add(text: string, object: jsonc.Node, key: string, value: unknown): string {
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
  const member = `${begin}${JSON.stringify(key)}: ${jsonAt(text, value, object.offset, inner)}${end}`
  return text.slice(0, from) + comma + kept + member + text.slice(from + kept.length)
}
