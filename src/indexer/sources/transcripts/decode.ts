import type { Json } from '../../../model/json.ts'
import type { Role } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import {
  boundJson,
  parsedOrText,
  isBlank,
  stringLeaves,
  parseExactly,
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  type JsonRecord,
  stringIn,
} from '../records/json.ts'
import { openCall, readPayload } from '../records/tool.ts'
import { startsWrapped, unwrapPrompt } from '../records/unwrap-prompt.ts'
import {
  OpenCalls,
  answerParts,
  answerStep,
  isRedacted,
  promptStep,
  type Steps,
  errorStep,
  unread,
  type Step,
} from './transcript.ts'
import type { IssueReason } from '../../../model/issue.ts'

/** The JSON Lines format: one JSON object per line. Total: an unreadable line does not affect other lines. */
export function decodeLines(text: string): Steps {
  const lines = text.split('\n')
  const calls = new OpenCalls()
  const steps = lines.flatMap((line, index) => {
    if (isBlank(line)) return []
    const parsed = parseExactly(line)
    if (parsed !== null) return decodeLine(parsed.value, calls)
    // The last line has no line break yet: Cursor is still writing it, and the next pass reads it.
    return index === lines.length - 1 ? [] : unread('bad-json')
  })
  return { steps }
}

function decodeLine(value: unknown, calls: OpenCalls): Step {
  const line = asRecord(value)
  if (line === null) return unread('not-an-object')
  const role = readRole(line)
  if (role === null) return decodeControl(line)
  const blocks = readBlocks(line)
  const parts: Part[] = []
  const issues = blocks.map((block) => addBlock(parts, block, role, calls))
  const issue = issues.find((each) => each !== null) ?? null
  if (role === 'assistant') return { ...answerStep(parts), issue }
  const prompts = blocks.flatMap((block) => blockText(block) ?? []).map(unwrapPrompt)
  // The results of calls stand in a line of the user's, as the model is told them.
  if (prompts.length === 0 && blocks.some(isResult))
    return parts.length === 0 ? { ...noMessage, issue } : { ...answerStep(parts), issue }
  calls.clear()
  return { ...promptStep(prompts), issue }
}

function readRole(line: JsonRecord): Role | null {
  const words = [line['role'], asRecord(line['message'])?.['role'], line['type']]
  return words.find((word): word is Role => word === 'user' || word === 'assistant') ?? null
}

/** Lines about the run. An error is shown, because it may be the only answer to a prompt. */
function decodeControl(line: JsonRecord): Step {
  if (line['type'] === 'error') {
    const text = stringLeaves(line['error'] ?? line['message']).join('\n')
    if (text !== '') return errorStep(text)
  }
  if (line['type'] !== 'turn_ended') return { kind: 'control', turn: null, error: '' }
  const turn = line['status'] === 'aborted' || line['status'] === 'error' ? 'cut' : 'ended'
  return { kind: 'control', turn, error: stringLeaves(line['error']).join('\n') }
}

/** The content: a list of blocks, one block, or plain text. */
function readBlocks(line: JsonRecord): readonly (JsonRecord | string)[] {
  const message = asRecord(line['message'])
  const content = message === null ? (line['message'] ?? line['content']) : (message['content'] ?? message)
  const list: readonly unknown[] = Array.isArray(content) ? content : [content]
  return list.map((block) => (typeof block === 'string' ? block : asRecord(block))).filter((block) => block !== null)
}

const isText = (block: JsonRecord | string): boolean =>
  typeof block === 'string' || block['type'] === 'text' || block['type'] === undefined

const blockText = (block: JsonRecord | string): string | null =>
  isText(block) ? filledString(typeof block === 'string' ? block : block['text']) : null

const isResult = (block: JsonRecord | string): boolean => typeof block !== 'string' && block['type'] === 'tool_result'

/** Blocks with nothing that can be shown: what Cursor left out, and bytes. */
const empty: ReadonlySet<unknown> = new Set(['redacted', 'redacted_thinking', 'image', 'document'])

/** Adds what an answer says; of a prompt only results of calls, because its texts are unwrapped together. */
function addBlock(parts: Part[], block: JsonRecord | string, role: Role, calls: OpenCalls): IssueReason | null {
  if (typeof block === 'string' || isText(block)) {
    const text = role === 'user' ? null : blockText(block)
    if (text !== null) parts.push(...answerParts(text))
  } else if (block['type'] === 'tool_use') {
    const [name, callId] = [filledStringIn(block, 'name'), filledStringIn(block, 'id')]
    const { part, issue } = openCall(name, callId, boundJson(readPayload(block['input'])))
    calls.add(parts, part)
    return issue
  } else if (isResult(block)) {
    const output = boundJson(readResult(block['content']))
    calls.answer(filledStringIn(block, 'tool_use_id'), output.value, block['is_error'] === true, parts)
    return output.isTooDeep ? 'too-deep' : null
  } else if (block['type'] === 'thinking') {
    const thinking = firstFilledIn(block, ['thinking', 'text'])
    if (thinking !== null && !isRedacted(thinking)) parts.push({ kind: 'thinking', text: thinking, durationMs: null })
  } else if (!empty.has(block['type'])) return 'unknown-shape'
  return null
}

/** A text, or a list of blocks of text. */
function readResult(content: unknown): unknown {
  const texts = Array.isArray(content)
    ? content.flatMap((each: unknown) => filledString(each) ?? filledStringIn(asRecord(each), 'text') ?? [])
    : []
  return readPayload(texts.length > 0 ? texts.join('\n') : content)
}

/**
 * The JSON list format: `{role, text, toolCalls: [{toolName, args}], toolResult}`. Total: an unreadable entry does not
 * affect other entries. Null if the text is not a list.
 */
export function decodeRecords(text: string): Steps | null {
  const parsed = parseExactly(text)
  if (!Array.isArray(parsed?.value)) return null
  const entries: readonly unknown[] = parsed.value
  if (entries.length > 0 && !entries.some((entry) => isRole(asRecord(entry)?.['role']))) {
    return { steps: [], issue: 'unknown-shape' }
  }
  const calls = new OpenCalls()
  return { steps: entries.map((entry) => decodeEntry(entry, calls)) }
}

const isRole = (role: unknown): boolean => role === 'user' || role === 'assistant' || role === 'tool'

/** An entry that is not a message, such as the result of an earlier call. */
const noMessage: Step = { kind: 'control', turn: null, error: '' }

function decodeEntry(entry: unknown, calls: OpenCalls): Step {
  const record = asRecord(entry)
  const role = record?.['role']
  if (record === null) return unread('not-an-object')
  if (!isRole(role)) return typeof role === 'string' ? noMessage : unread('unknown-shape')
  const text = stringIn(record, 'text') ?? ''
  const oddText = typeof (record['text'] ?? '') === 'string' ? null : 'unknown-shape'
  if (role === 'user') {
    calls.clear()
    return { ...promptStep([unwrapPrompt(text)]), issue: oddText }
  }
  const parts: Part[] = role === 'tool' ? [] : [...answerParts(text)]
  const oddCall = addCalls(parts, record['toolCalls'] ?? [], calls)
  const oddResult = endCall(parts, record, role === 'tool' ? text : '', calls)
  const step = role === 'tool' && parts.length === 0 ? noMessage : answerStep(parts)
  return { ...step, issue: oddText ?? oddCall ?? oddResult }
}

function addCalls(parts: Part[], toolCalls: unknown, calls: OpenCalls): IssueReason | null {
  if (!Array.isArray(toolCalls)) return 'unknown-shape'
  let found: IssueReason | null = null
  for (const call of (toolCalls as readonly unknown[]).map(asRecord)) {
    const { part, issue } = openCall(filledStringIn(call, 'toolName'), null, boundJson(readPayload(call?.['args'])))
    if (call !== null) calls.add(parts, part)
    found ??= call === null ? 'unknown-shape' : issue
  }
  return found
}

/** Most results contain only the name of their tool; they only tell that the call ended. */
function endCall(parts: Part[], record: JsonRecord, text: string, calls: OpenCalls): IssueReason | null {
  const result = record['toolResult'] ?? (text === '' ? null : {})
  if (result === null) return null
  const { toolName, ...fields } = asRecord(result) ?? { output: result }
  const [first, ...others] = Object.values(fields)
  const output = boundJson(readPayload((others.length > 0 ? fields : first) ?? text))
  calls.end(typeof toolName === 'string' ? toolName : '', output.value, parts)
  return output.isTooDeep ? 'too-deep' : null
}

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
