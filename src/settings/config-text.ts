import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'
import { UserError } from '../model/user-error.ts'
import type { KeyPath, Layer } from './layer.ts'

/**
 * Parses a config file: JSON with comments and trailing commas. An empty file is allowed.
 * @throws UserError `bad-config` if the text does not parse, with line and column, starting at 1
 */
export function configLayer(text: string, file: string): Layer {
  const json = text.replace(/^\uFEFF/, '')
  const errors: ParseError[] = []
  const root = tooDeepIsNull(() => parseTree(json, errors, { allowTrailingComma: true, allowEmptyContent: true }))
  if (root === null) {
    const what = `The config file ${file} has too many brackets in brackets.`
    throw new UserError('bad-config', what, 'Write { … } with the settings as keys.', { exitCode: 2 })
  }
  const [first] = errors
  if (first !== undefined) {
    const what = printParseErrorCode(first.error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    throw new UserError(
      'bad-config',
      `The config file cannot be parsed at ${file}:${lineAndColumn(json, first.offset)}: ${what.toLowerCase()}.`,
      'The file must be JSON; comments and trailing commas are allowed.',
      { exitCode: 2 },
    )
  }
  if (root !== undefined && root.type !== 'object') {
    throw new UserError(
      'bad-config',
      `The config file must contain an object, but its type is ${root.type} (${file}:${lineAndColumn(json, root.offset)}).`,
      'Write { … } with the settings as keys.',
      { exitCode: 2 },
    )
  }
  return {
    tree: root === undefined ? {} : getNodeValue(root),
    placeOf: (path) => `${file}:${lineAndColumn(json, offsetOf(root, path))}`,
  }
}

function offsetOf(root: Node | undefined, path: KeyPath): number {
  if (root === undefined) return 0
  for (let depth = path.length; depth > 0; depth--) {
    const keys = path.slice(0, depth).map((key) => (typeof key === 'number' ? key : String(key)))
    const node = findNodeAtLocation(root, keys)
    // The value's parent is the property. A reader looks for the key.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent.offset : node.offset
  }
  return root.offset
}

/** The parser calls itself for each level. Null if that is too deep for the stack. */
export function tooDeepIsNull<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function lineAndColumn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}
