import type { Json } from '../../model/json.ts'
import type { Role } from '../../model/message.ts'
import type { Part, ToolPart } from '../../model/part.ts'

/** A stretch of a Markdown text, either prose or fenced code. */
export interface Stretch {
  /** UTF-16 offsets, end exclusive. */
  readonly start: number
  readonly end: number
  /** The fence lines themselves belong to the code. */
  readonly isCode: boolean
}

/**
 * A fence after blanks or marks of quotes and lists. Without the `m` flag: with it, a carriage return begins a line too, and
 * a text of only carriage returns and blanks would be scanned again from each of them.
 */
const FENCE = /(?:^|\n)([ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*){0,6})(`{3,}|~{3,})([^\n]*)/g
const QUOTED = /^[ \t>]*$/

/**
 * The stretches of a text in order, which together cover all of it; null if it has no fence. An unclosed fence continues to
 * the end, because the message may still be streaming. A fence that opens and closes on one line is code up to its end.
 */
export function stretchesOf(text: string): readonly Stretch[] | null {
  if (!text.includes('```') && !text.includes('~~~')) return null
  const stretches: Stretch[] = []
  let from = 0
  let opened: { readonly start: number; readonly fence: string } | null = null
  const add = (start: number, end: number, isCode: boolean): void => {
    if (end > start) stretches.push({ start, end, isCode })
  }
  for (const { index, 0: match, 1: before = '', 2: fence = '', 3: rest = '' } of text.matchAll(FENCE)) {
    const end = index + match.length
    const start = end - rest.length - fence.length - before.length
    if (opened === null) {
      const closing = fence.startsWith('`') ? rest.indexOf(fence) : -1
      add(from, start, false)
      from = start
      if (closing < 0) opened = { start, fence }
      else add(start, (from = end - rest.length + closing + fence.length), true)
    } else if (fence.startsWith(opened.fence) && QUOTED.test(before) && rest.trim() === '') {
      from = end
      add(opened.start, end, true)
      opened = null
    }
  }
  if (opened === null && stretches.length === 0) return null
  add(from, text.length, opened !== null)
  return stretches
}

/** A terminal escape sequence (CSI), for example a colour or a cursor movement. */
// oxlint-disable-next-line no-control-regex
const escapeSequence = /\u001b\[([\d;:?]*)([@-~])/g
const ESCAPE = '\u001b'

/** Removes terminal escape sequences: `\u001b[31mfailed` becomes `failed`, and no word begins with the `m` of the colour. */
export function withoutOrders(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(escapeSequence, (_, given: string, kind: string) => shownFor(given, kind))
}

/** The replacement of a sequence. Colours may be inside words, where a match was highlighted; cursor movements split words. */
export const shownFor = (given: string, kind: string): '' | ' ' =>
  kind === 'm' || (kind === 'K' && given === '') ? '' : ' '

const jsonBeginning = /^\s*[[{]\s*["[{]/
const escaped = /\\(?:u([\da-f]{4})|([^]))/gi
const spaces: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\n'],
  ['t', '\t'],
])

export const beginsLikeJson = (text: string): boolean => jsonBeginning.test(text)

/** Decodes the escapes of JSON: in `"first\nsecond"` no word begins with `n`, and `\u00e9` is a letter. Other text stays. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\\') || !beginsLikeJson(text)) return text
  return text.replaceAll(escaped, (all, code: string | undefined, sign: string | undefined) =>
    code === undefined ? (spaces.get(sign ?? '') ?? all) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** The texts of a message, by their author. */
export interface SpokenTexts {
  /** Texts that a model read: the user's words, attachments, and tool results. */
  readonly input: readonly string[]
  /** Texts that a model wrote: answers, thinking, code, to-do lists, and tool inputs. */
  readonly output: readonly string[]
}

/**
 * All texts of a message, each once. Messages of the program itself, for example about a failed request, are left out: no
 * model read or wrote them.
 */
export function spokenTexts(role: Role, parts: readonly Part[]): SpokenTexts {
  const input: string[] = []
  const output: string[] = []
  const own = role === 'user' ? input : output
  const toolInputs = new Set(parts.flatMap((part) => (part.kind === 'tool' ? stringsIn(part.input) : [])))
  const hasWholeFile = [...toolInputs].some((text) => text.includes('\n'))
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'thinking') own.push(part.text)
    else if (part.kind === 'todo') for (const { content } of part.items) own.push(content)
    else if (part.kind === 'attachment' || part.kind === 'summary') input.push(part.text ?? '')
    // A tool's input may be in the row a second time, as code or as the resulting diff.
    else if (part.kind === 'plan') {
      if (!toolInputs.has(part.text)) own.push(part.text)
    } else if (part.kind === 'code') {
      const isRepeated = toolInputs.has(part.text) || (hasWholeFile && part.language === 'diff')
      if (!isRepeated) own.push(part.text)
    } else if (part.kind === 'tool') {
      output.push(part.name, textOf(part.input))
      input.push(...returnedBy(part))
    }
  }
  return { input: input.filter(isFilled), output: output.filter(isFilled) }
}

const isFilled = (text: string): boolean => text !== ''

const returnedBy = ({ output, error }: ToolPart): string[] => [textOf(output), error ?? '']

function textOf(value: Json): string {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The strings at the top level of a value. Deeper ones are not whole files. */
function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).filter((each) => typeof each === 'string')
}
