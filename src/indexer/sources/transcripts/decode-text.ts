import type { Part } from '../../../model/part.ts'
import type { Json } from '../../../model/json.ts'
import { boundJson } from '../records/bound-json.ts'
import { parsedOrText } from '../records/exact-json.ts'
import { isBlank } from '../records/json-value.ts'
import { readToolPaths } from '../records/tool-payload.ts'
import { unwrapPrompt } from '../records/unwrap-prompt.ts'
import { readSections, type Section } from './read-sections.ts'
import { splitBlocks, type TextBlock } from './split-blocks.ts'
import { isRedacted, openCall, promptStep, type Step, type Steps } from './transcript.ts'

/** The old form, made for reading. Total: where no line opens a message there is nothing to read. */
export function decodeText(text: string): Steps {
  const blocks = splitBlocks(text.split('\n'))
  // Without any line end it may be a first line that is being written.
  const isForeign = blocks.length === 0 && text.includes('\n') && !isBlank(text)
  return { steps: blocks.map(decodeBlock), issue: isForeign ? 'bad-json' : null }
}

function decodeBlock({ role, lines }: TextBlock): Step {
  if (role === 'user') return promptStep([unwrapPrompt(withoutOuterBlanks(lines).join('\n'))])
  return { kind: 'said', role, parts: decodeSections(readSections(lines)), sentAtMs: null }
}

/** Empty lines around a message part it from its neighbours; they are not of it. */
function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => !isBlank(line))
  const last = lines.findLastIndex((line) => !isBlank(line))
  const kept = first < 0 ? [] : lines.slice(first, last + 1)
  return kept.map((line, index) => (index === kept.length - 1 ? line.replace(/\r$/, '') : line))
}

/** Results are given to calls no further back than this. */
const openCallsMax = 100

function decodeSections(sections: readonly Section[]): readonly Part[] {
  const parts: Part[] = []
  /** Places of the calls that have no result yet. */
  const open: number[] = []
  for (const section of sections) {
    if (section.kind === 'result') giveResult(parts, open, section)
    else {
      const part = decodeSection(section)
      if (part?.kind === 'tool') open.push(parts.length)
      if (part !== null) parts.push(part)
      if (open.length > openCallsMax) open.shift()
    }
  }
  return parts
}

function decodeSection({ kind, title, body }: Section): Part | null {
  if (kind === 'call') return decodeCall(title, body)
  const lines = kind === 'thinking' && title !== '' ? [title, ...body] : body
  const text = withoutOuterBlanks(lines).join('\n')
  if (isBlank(text) || isRedacted(text)) return null
  return kind === 'thinking' ? { kind: 'thinking', text, durationMs: null } : { kind: 'text', text }
}

function decodeCall(name: string, body: readonly string[]): Part {
  const text = withoutOuterBlanks(body).join('\n')
  const input = isBlank(text) ? null : readInput(text)
  const paths = readToolPaths(name, input)
  return openCall({ name: name === '' ? 'unknown' : name, callId: null, input, output: null, paths })
}

/** JSON, or a line for each argument; what is neither stays the text it is. */
function readInput(text: string): Json {
  const parsed = parsedOrText(text)
  return typeof parsed === 'string' ? (readArguments(parsed) ?? parsed) : boundJson(parsed).value
}

const argument = /^([A-Za-z_][\w.-]*)(?:=|:(?:\s|$))(.*)$/s

/** `name=value`, the value going on over indented and empty lines. Null where any other line stands at the margin. */
function readArguments(text: string): Json {
  const values = new Map<string, string>()
  let current: string | null = null
  for (const line of text.split('\n')) {
    const [, name, value = ''] = argument.exec(line) ?? []
    if (name !== undefined && !values.has(name)) {
      current = name
      values.set(name, value.trim())
    } else if (current !== null && (isBlank(line) || /^\s/.test(line))) {
      values.set(current, `${values.get(current) ?? ''}\n${line}`)
    } else return null
  }
  return Object.fromEntries(values)
}

/** To the first open call of its name, or the last one of any name; a result without a call stands alone. */
function giveResult(parts: Part[], open: number[], { title, body }: Section): void {
  const text = withoutOuterBlanks(body).join('\n')
  if (isBlank(text)) return
  const output = boundJson(parsedOrText(text)).value
  const named = open.findIndex((at) => isCallOf(parts[at], title))
  const [at = parts.length] = open.splice(named < 0 ? -1 : named, 1)
  const call = parts[at]
  if (call?.kind === 'tool') parts[at] = { ...call, output }
  else parts.push(openCall({ name: title === '' ? 'unknown' : title, callId: null, input: null, output, paths: [] }))
}

const isCallOf = (part: Part | undefined, name: string): boolean => part?.kind === 'tool' && part.name === name
