import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser'

/**
 * Sets or removes a value in a JSON text. Comments, order and formatting of everything else stay.
 * @param value undefined removes it
 * @returns null if the text is not JSON with comments
 */
export function editJson(text: string, path: readonly string[], value: unknown): string | null {
  const errors: ParseError[] = []
  const given = text.trim() === '' ? '{}' : text
  const tree: unknown = parse(given, errors, { allowTrailingComma: true })
  if (errors.length > 0 || typeof tree !== 'object' || tree === null || Array.isArray(tree)) return null
  const eol = given.includes('\r\n') ? '\r\n' : '\n'
  const options = { formattingOptions: { insertSpaces: !/\n\t/.test(given), tabSize: indentOf(given), eol } }
  const edited = applyEdits(given, modify(given, [...path], value, options))
  return edited.endsWith('\n') ? edited : `${edited}${eol}`
}

const indentOf = (text: string): number => /\n( +)"/.exec(text)?.[1]?.length ?? 2
