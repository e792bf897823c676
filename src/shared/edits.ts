import { structuredPatch } from 'diff'
import type { CodePart, Part, ToolPart } from '../model/part.ts'
import { fieldsOf, firstText } from './tools.ts'

/** Lines of a change that belong together. Each begins with `+`, `-` or a blank. */
export interface Hunk {
  /** The number of its first line before and after, from 1; null if the call does not say. */
  readonly oldStart: number | null
  readonly newStart: number | null
  readonly lines: readonly string[]
}

/** What a call changed in one file. */
export interface FileEdit {
  readonly path: string | null
  readonly hunks: readonly Hunk[]
  /** True if the call has only an outline of the new text, with marks such as `// ... existing code ...`. */
  readonly isSketch: boolean
}

const OLD = ['old_string', 'oldString', 'old_str', 'oldText']
const NEW = ['new_string', 'newString', 'new_str', 'newText']
const WHOLE = ['contents', 'content', 'file_text', 'fileText', 'code']
const SKETCH = ['code_edit', 'codeEdit']
const PATCH = ['patch', 'input', 'diff']
const LISTS = ['edits', 'replacements', 'operations']

/** Finding the smallest change of two long texts that share nothing takes quadratic time. */
const EDITS_MAX = 2000

/**
 * The changes that the call of an editing tool says: in its result, else in its arguments. Cursor's builds give them as a
 * patch, as texts to replace, as whole files or as sketches. Empty for any other call.
 */
export function editsOf({ input, output, paths }: ToolPart): readonly FileEdit[] {
  const path = paths[0] ?? null
  const chunks = fieldsOf(fieldsOf(output)['diff'])['chunks']
  const recorded = Array.isArray(chunks) ? chunks.flatMap(hunkOfChunk) : []
  if (recorded.length > 0) return [{ path, hunks: recorded, isSketch: false }]
  const fields = fieldsOf(input)
  const patch = typeof input === 'string' ? input : (firstText(fields, PATCH) ?? firstText(fieldsOf(output), ['diff']))
  const patched = patch === undefined ? [] : editsOfPatch(patch, path)
  if (patched.length > 0) return patched
  const lists = LISTS.map((name) => fields[name]).find(Array.isArray) as readonly unknown[] | undefined
  const hunks = [fields, ...(lists ?? []).map(fieldsOf)].flatMap((each) => replaced(each))
  if (hunks.length > 0) return [{ path, hunks, isSketch: false }]
  const sketch = firstText(fields, SKETCH)
  const whole = sketch ?? firstText(fields, WHOLE)
  if (whole === undefined || path === null) return []
  return [{ path, hunks: [{ oldStart: null, newStart: 1, lines: signed(whole, '+') }], isSketch: sketch !== undefined }]
}

function replaced(fields: ReturnType<typeof fieldsOf>): readonly Hunk[] {
  const [before, after] = [OLD, NEW].map((names) => firstText(fields, names))
  return before === undefined && after === undefined ? [] : hunksBetween(before ?? '', after ?? '')
}

/** The hunks between two texts. Where they stand in the file is not known. */
export function hunksBetween(before: string, after: string): readonly Hunk[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: EDITS_MAX })
  if (patch === undefined) {
    return [{ oldStart: null, newStart: null, lines: [...signed(before, '-'), ...signed(after, '+')] }]
  }
  return patch.hunks.map(({ lines }) => ({ oldStart: null, newStart: null, lines: lines.filter(isOfText) }))
}

/** Not `\ No newline at end of file`. */
const isOfText = (line: string): boolean => !line.startsWith('\\')

const signed = (text: string, sign: '+' | '-'): string[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => sign + line)

const lineNumber = (given: unknown): number | null => (typeof given === 'number' && given > 0 ? given : null)

function hunkOfChunk(chunk: unknown): Hunk[] {
  const { diffString, oldStart, newStart } = fieldsOf(chunk)
  if (typeof diffString !== 'string' || diffString === '') return []
  const lines = diffString.replace(/\n$/, '').split('\n')
  return [{ oldStart: lineNumber(oldStart), newStart: lineNumber(newStart), lines }]
}

const FILE = /^(?:\*\*\* (Add|Update|Delete) File: |\+\+\+ (?:b\/)?)(.+)$/
const HUNK = /^@@(?: -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@)?/

/** The files of a patch, as `apply_patch` takes it or as `git diff` gives it. Empty for other text. */
function editsOfPatch(text: string, firstPath: string | null): readonly FileEdit[] {
  if (!/^(?:\*\*\* (?:Begin Patch|\w+ File: )|@@|\+\+\+ )/m.test(text)) return []
  const edits: { path: string | null; hunks: (Hunk & { lines: string[] })[] }[] = []
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, , path] = FILE.exec(line) ?? []
    if (path !== undefined) {
      edits.push({ path: path.trim(), hunks: [] })
      continue
    }
    if (/^(?:\*\*\* |--- |diff |index )/.test(line)) continue
    const edit = edits.at(-1) ?? { path: firstPath, hunks: [] }
    if (edits.length === 0) edits.push(edit)
    const [head, oldStart, newStart] = HUNK.exec(line) ?? []
    if (head !== undefined) edit.hunks.push({ ...numbersOf(oldStart, newStart), lines: [] })
    else if (/^[ +-]|^$/.test(line)) {
      if (edit.hunks.length === 0) edit.hunks.push({ ...numbersOf(undefined, undefined), lines: [] })
      edit.hunks.at(-1)?.lines.push(line === '' ? ' ' : line)
    }
  }
  return edits.map((edit) => ({ ...edit, hunks: edit.hunks.filter(({ lines }) => lines.length > 0), isSketch: false }))
}

const numbersOf = (oldStart: string | undefined, newStart: string | undefined) => ({
  oldStart: oldStart === undefined ? null : Number(oldStart),
  newStart: newStart === undefined ? null : Number(newStart),
})

/** The changes of a call, with those that Cursor kept beside it in the message, as code. */
export function editsWithin(call: ToolPart, parts: readonly Part[]): readonly FileEdit[] {
  const edits = editsOf(call)
  const diff = diffBeside(parts)
  if (diff === undefined || edits.some(({ isSketch }) => !isSketch)) return edits
  const hunk = { oldStart: null, newStart: null, lines: diff.text.replace(/\n$/, '').split('\n') }
  return [{ path: diff.path ?? call.paths[0] ?? null, hunks: [hunk], isSketch: false }]
}

/** What Cursor kept as code of the first call that edits. */
export const diffBeside = (parts: readonly Part[]) =>
  parts.find((part) => part.kind === 'code' && part.language === 'diff') as CodePart | undefined

/** How many lines an edit added and removed; null for a sketch, which does not say. */
export function countLines({ hunks, isSketch }: FileEdit): { readonly added: number; readonly removed: number } | null {
  if (isSketch) return null
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  return { added: count('+'), removed: count('-') }
}

/** An edit as text: its hunks, each after a line with its numbers if they are known. */
export const diffText = ({ hunks }: FileEdit): string =>
  hunks
    .map(({ oldStart, newStart, lines }) => {
      const numbers = oldStart === null || newStart === null ? '' : ` -${oldStart} +${newStart} @@`
      return [`@@${numbers}`, ...lines].join('\n')
    })
    .join('\n')
