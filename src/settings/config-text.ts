import { findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'
import { UserError } from '../model/user-error.ts'
import type { KeyPath, Layer } from './judge.ts'

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
    const what = printParseErrorCode(first.error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    const problem = `The config file cannot be parsed at ${placeAt(first.offset)}: ${what.toLowerCase()}.`
    const hint = 'The file must be JSON; comments and trailing commas are allowed.'
    throw new UserError('bad-config', problem, hint, { exitCode: 2 })
  }
  if (root !== undefined && root.type !== 'object') {
    const problem = `The config file must contain an object, but its type is ${root.type} (${placeAt(root.offset)}).`
    throw new UserError('bad-config', problem, 'Write { … } with the settings as keys.', { exitCode: 2 })
  }
  return {
    tree: root === undefined ? {} : getNodeValue(root),
    placeOf: (path) => placeAt(root === undefined ? 0 : offsetOf(root, path)),
  }
}

/** JSON with comments and trailing commas. One that is nested too deep for the parser, which calls itself, is wrong at its begin. */
export function parseJsonc(text: string): { readonly root: Node | undefined; readonly errors: readonly ParseError[] } {
  const errors: ParseError[] = []
  try {
    return { root: parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true }), errors }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // 1 is an invalid symbol.
    return { root: undefined, errors: [{ error: 1, offset: 0, length: 1 }] }
  }
}

function offsetOf(root: Node, path: KeyPath): number {
  for (let depth = path.length; depth > 0; depth--) {
    const keys = path.slice(0, depth).map((key) => (typeof key === 'number' ? key : String(key)))
    const node = findNodeAtLocation(root, keys)
    // The value's parent is the property. A reader looks for the key.
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent.offset : node.offset
  }
  return root.offset
}
