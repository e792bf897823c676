import type { Json } from '../../../model/json.ts'
import type { Role } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import { boundJson, parsedOrText, isBlank } from '../records/json.ts'
import { openCall } from '../records/tool.ts'
import { startsWrapped, unwrapPrompt } from '../records/unwrap-prompt.ts'
import { OpenCalls, answerParts, answerStep, isRedacted, promptStep, type Steps } from './transcript.ts'

/** The old text format, made for people. Total: without a line that opens a message there is nothing to read. */
export function decodeText(text: string): Steps {
  const turns = splitTurns(text.split('\n'))
  const names = new Set(turns.flatMap(({ sections }) => resultNames(sections)))
  const calls = new OpenCalls()
  const steps = turns.map(({ role, lines, sections }) => {
    if (role === 'assistant') return answerStep(decodeAnswer(sections, names, calls))
    calls.clear()
    return promptStep([unwrapPrompt(textOf(lines))])
  })
  const prompts = turns.filter(({ role, lines }, at) => {
    return role === 'user' && startsPrompt(lines, 0) && steps[at]?.parts.length !== 0
  }).length
  // A text without any line break may be a first line that is still being written.
  const isForeign = turns.length === 0 && text.includes('\n') && !isBlank(text)
  return { steps, issue: isForeign ? 'bad-json' : null, ...(prompts > 0 ? { prompts } : {}) }
}

/** The lines of one message, without the line that opened it. */
interface Turn {
  readonly role: Role
  readonly lines: readonly string[]
  /** Empty for a prompt. */
  readonly sections: readonly Section[]
}

function splitTurns(lines: readonly string[]): readonly Turn[] {
  const turns: { role: Role; lines: string[]; hasCall: boolean }[] = []
  const isTagged = lines.some((_, at) => roleAt(lines, at, false) === 'user' && startsPrompt(lines, at + 1))
  for (let at = 0; at < lines.length; at += 1) {
    const open = turns.at(-1)
    const found = roleAt(lines, at, open?.role === 'assistant')
    // If the file tags its prompts, an untagged `user:` line within a call is part of an argument.
    const isQuoted = found === 'user' && isTagged && open?.hasCall === true && !startsPrompt(lines, at + 1)
    const role = isQuoted ? null : found
    const end = role === 'user' ? promptEnd(lines, at + 1) : at
    if (role !== null) turns.push({ role, lines: lines.slice(at + 1, end + 1), hasCall: false })
    else if (open !== undefined) {
      open.lines.push(lines[at] ?? '')
      open.hasCall ||= open.role === 'assistant' && (lines[at] ?? '').startsWith('[Tool call]')
    }
    at = end
  }
  return turns.map(({ role, lines: own }) => ({
    role,
    lines: own,
    sections: role === 'user' ? [] : readSections(own),
  }))
}

const withoutReturn = (line: string): string => line.replace(/\r$/, '')

/** A role is alone on its line, at the start of the file or after an empty line. */
function roleAt(lines: readonly string[], at: number, isInAnswer: boolean): Role | null {
  const word = withoutReturn(lines[at] ?? '')
  if ((word !== 'user:' && word !== 'assistant:') || withoutReturn(lines[at - 1] ?? '') !== '') return null
  if (word === 'assistant:') return 'assistant'
  // If the next line is indented, it is a key of YAML that an answer shows or writes.
  return isInAnswer && /^[ \t]+\S/.test(lines[at + 1] ?? '') ? null : 'user'
}

/** Whether Cursor's tags begin within a few lines. */
function startsPrompt(lines: readonly string[], from: number): boolean {
  return startsWrapped(lines.slice(from, from + 5).find((line) => !isBlank(line)) ?? '')
}

/**
 * The line with the closing tag of the query that starts here, because lines quoted in a query open no message.
 * Otherwise the line before.
 */
function promptEnd(lines: readonly string[], from: number): number {
  if (!startsPrompt(lines, from)) return from - 1
  let isOpen = false
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const role = roleAt(lines, at, false)
    // Another prompt starts before this one is closed: its closing tag was never written.
    if (role !== null && (!isOpen || (role === 'user' && startsPrompt(lines, at + 1)))) return from - 1
    isOpen ||= line.includes('<user_query>')
    if (isOpen && line.includes('</user_query>')) return at
  }
  return from - 1
}

/** Consecutive lines of an answer. */
interface Section {
  readonly kind: 'prose' | 'thinking' | 'call' | 'result'
  /** The text after the mark; empty for prose. */
  readonly title: string
  readonly body: readonly string[]
}

const kinds: ReadonlyMap<string, Section['kind']> = new Map([
  ['Thinking', 'thinking'],
  ['Tool call', 'call'],
  ['Tool result', 'result'],
])

const mark = /^\[(Thinking|Tool call|Tool result)\](?:\s+(.*))?$/s

/**
 * A mark at the start of a line opens a section. Before the first call, the indented and empty lines below a mark are
 * its body, and other lines are prose. After a call there is no prose: arguments continue at any indent, up to the next
 * mark.
 */
function readSections(lines: readonly string[]): readonly Section[] {
  const sections: { kind: Section['kind']; title: string; body: string[] }[] = []
  let isAfterCall = false
  for (const line of lines) {
    const [, word = '', title = ''] = mark.exec(line.trimEnd()) ?? []
    const kind = kinds.get(word)
    const open = sections.at(-1)
    if (kind !== undefined) sections.push({ kind, title: title.trim(), body: [] })
    else if (open !== undefined && (isAfterCall || open.kind === 'prose' || /^\s|^$/.test(line))) open.body.push(line)
    else sections.push({ kind: 'prose', title: '', body: [line] })
    isAfterCall ||= kind === 'call' || kind === 'result'
  }
  return sections
}

const resultNames = (sections: readonly Section[]): string[] =>
  sections.filter(({ kind, title }) => kind === 'result' && title !== '').map(({ title }) => title)

function decodeAnswer(sections: readonly Section[], names: ReadonlySet<string>, calls: OpenCalls): readonly Part[] {
  const parts: Part[] = []
  const results = resultNames(sections)
  let ended = 0
  for (const { kind, title, body } of sections) {
    if (kind === 'call') {
      const name = readName(title, results[ended], names)
      if (name === results[ended]) ended += 1
      const input = readInput(title.slice(name.length).trimStart(), body)
      calls.add(parts, openCall(name || null, null, { value: input, isTooDeep: false }).part)
    } else if (kind === 'result') calls.end(title, readValue(dedent(body)), parts)
    else if (kind === 'prose') for (const part of answerParts(textOf(body))) parts.push(part)
    else {
      const text = textOf([...(title === '' ? [] : [title]), ...dedent(body)])
      if (!isBlank(text) && !isRedacted(text)) parts.push({ kind, text, durationMs: null })
    }
  }
  return parts
}

/**
 * The tool's name at the start of the text after a call's mark. An argument may follow it without a space.
 * @param next the name in the result of this call, as the results of a turn are in the order of its calls
 * @param known names in all results of the file
 */
function readName(title: string, next: string | undefined, known: ReadonlySet<string>): string {
  if (next !== undefined && title.startsWith(next) && !known.has(title)) return next
  return known.has(title) ? title : (/^[\w-]+(?:[.:][\w-]+)*/.exec(title)?.[0] ?? '')
}

/** `name=value` or `name: value`, indented. */
const argument = /^([ \t]+)([A-Za-z_][\w.-]*)(=|:(?=\s|$))(.*)$/s

/**
 * Arguments have the indent and the separator of the first one; every other line continues the previous value. If the
 * first line is not an argument, or an argument follows the tool's name without a space, everything is one value.
 */
function readInput(glued: string, body: readonly string[]): Json {
  if (glued !== '') return readValue([glued, ...body])
  const lines = withoutOuterBlanks(body)
  const [, indent, , sign] = argument.exec(lines[0] ?? '') ?? []
  if (indent === undefined) return readValue(dedent(lines))
  const values = new Map<string, string[]>()
  let value: string[] = []
  for (const line of lines) {
    const [, at, name, by, rest = ''] = argument.exec(line) ?? []
    if (name !== undefined && at === indent && by === sign && !values.has(name)) {
      value = [by === ':' ? rest.trimStart() : rest]
      values.set(name, value)
    } else value.push(line)
  }
  return Object.fromEntries([...values].map(([name, pieces]) => [name, withoutReturn(pieces.join('\n'))]))
}

/** The parsed JSON, or the text; null if there is none. */
function readValue(lines: readonly string[]): Json {
  const text = textOf(lines)
  return isBlank(text) ? null : boundJson(parsedOrText(text)).value
}

const textOf = (lines: readonly string[]): string => withoutReturn(withoutOuterBlanks(lines).join('\n'))

/** Empty lines around a section only separate it from the next one. */
function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !isBlank(line))
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => !isBlank(line)) + 1)
}

/** Removes the indent that all lines share. */
function dedent(lines: readonly string[]): readonly string[] {
  const indents = lines.filter((line) => !isBlank(line)).map((line) => line.length - line.trimStart().length)
  const shared = indents.reduce((least, indent) => Math.min(least, indent), Number.MAX_SAFE_INTEGER)
  return lines.map((line) => (isBlank(line) ? '' : line.slice(shared)))
}
