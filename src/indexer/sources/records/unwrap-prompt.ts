import type { Part } from '../../../model/part.ts'
import { isBlank, readTimestamp } from './json.ts'

/** A user's message without Cursor's wrapping. */
export interface Prompt {
  /** The texts as typed; several if they were sent together. */
  readonly texts: readonly string[]
  /** Files and images that were sent with it. */
  readonly paths: readonly string[]
  readonly sentAtMs: number | null
}

/** The parts of a user's message, from its pieces. */
export function joinPrompts(prompts: readonly Prompt[]) {
  const texts = prompts.flatMap((prompt) => prompt.texts).map((text) => ({ kind: 'text' as const, text }))
  const paths = [...new Set(prompts.flatMap((prompt) => prompt.paths))]
  const parts: readonly Part[] = [...texts, ...paths.map((path) => ({ kind: 'attachment' as const, path, text: null }))]
  return { parts, sentAtMs: prompts.map(({ sentAtMs }) => sentAtMs).find((time) => time !== null) ?? null }
}

/** `<name …>body</name>`, or a mark such as `[Image]` without a body. */
interface Block {
  readonly name: string
  readonly body: string
  readonly end: number
}

const opening = '<user_query>'
const closing = '</user_query>'

/** Without a query, only these are certain not to be the user's own words. */
const wrappers: ReadonlySet<string> = new Set([
  'timestamp',
  'user_info',
  'attached_files',
  'image_files',
  'uploaded_documents',
  'open_and_recently_viewed_files',
  'open_subagent_context',
  'manually_attached_skills',
  'cursor_commands',
  'system_reminder',
  'system_notification',
  'external_links',
  'agent_skills',
  'agent_transcripts',
  'mcp_instructions',
  'plugin_info',
  'subagent_delegation_context',
])

/** Whether a wrapped prompt may start with this line. */
export function startsWrapped(line: string): boolean {
  const [, name = ''] = /^<([a-z_]+)[\s>]/.exec(line) ?? []
  return name === 'user_query' || wrappers.has(name)
}

/** Removes what Cursor's agent puts around a prompt. Text without wrapping is returned unchanged. */
export function unwrapPrompt(text: string): Prompt {
  const head = readBlocks(text, 0)
  const queryAt = skipSpace(text, head.at(-1)?.end ?? 0)
  if (text.startsWith(opening, queryAt)) {
    const { texts, blocks } = readQueries(text, queryAt)
    return promptOf(texts, [...blocks, ...head])
  }
  // Whatever the names of these blocks are: what somebody types stands in a query, or is more than blocks.
  const isAllBlocks = queryAt === text.length && head.some(({ name }) => name !== '')
  const known = isAllBlocks ? head : head.slice(0, knownLength(head))
  const end = known.at(-1)?.end ?? null
  return promptOf([end === null ? text : text.slice(end).replace(/^[\r\n]+/, '')], known)
}

function promptOf(texts: readonly string[], blocks: readonly Block[]): Prompt {
  const times = blocks.map(({ name, body }) => (name === 'timestamp' ? readTimestamp(body) : null))
  return {
    texts: texts.filter((text) => !isBlank(text)),
    paths: [...new Set(blocks.flatMap(pathsIn))],
    sentAtMs: times.find((time) => time !== null) ?? null,
  }
}

/** A message that begins with this block was made by the agent, whatever blocks follow. */
const preface = 'user_info'

/** The number of leading blocks that are certainly wrapping. A mark counts if a wrapper follows it. */
function knownLength(blocks: readonly Block[]): number {
  if (blocks[0]?.name === preface) return blocks.length
  const unknownAt = blocks.findIndex(({ name }) => name !== '' && !wrappers.has(name))
  const until = unknownAt < 0 ? blocks.length : unknownAt
  return blocks.slice(0, until).findLastIndex(({ name }) => name !== '') + 1
}

/** @returns `blocks`: those between and after the queries */
function readQueries(text: string, from: number) {
  const texts: string[] = []
  const blocks: Block[] = []
  let at = from
  while (text.startsWith(opening, at)) {
    const start = at + opening.length
    const end = queryEnd(text, start)
    const inner = unwrapInner(withoutOuterBreaks(text.slice(start, end ?? text.length)))
    texts.push(inner.text)
    for (const block of inner.blocks) blocks.push(block)
    if (end === null) return { texts, blocks }
    const between = readBlocks(text, end + closing.length)
    for (const block of between) blocks.push(block)
    at = skipSpace(text, between.at(-1)?.end ?? end + closing.length)
  }
  return { texts: [...texts, text.slice(at)], blocks }
}

/** Far more often than any prompt is wrapped. */
const WRAPPED_MAX = 8

/** A prompt that waited for the end of a turn is wrapped twice. The blocks of the inner wrapping come first. */
function unwrapInner(given: string): { readonly text: string; readonly blocks: readonly Block[] } {
  let text = given
  let blocks: readonly Block[] = []
  for (let times = 1; times < WRAPPED_MAX; times += 1) {
    const head = readBlocks(text, 0)
    const queryAt = skipSpace(text, head.at(-1)?.end ?? 0)
    const start = queryAt + opening.length
    const end = text.startsWith(opening, queryAt) ? (queryEnd(text, start) ?? text.length) : -1
    // Words after the inner query are the user's, who wrote about these tags.
    if (end < 0 || skipSpace(text, end + closing.length) < text.length) break
    blocks = [...head, ...blocks]
    text = withoutOuterBreaks(text.slice(start, end))
  }
  return { text, blocks }
}

/** A prompt may itself contain the closing tag; then it ends at a later one. This is how many are tried. */
const closingsTried = 100

/** The first closing tag that is followed only by blocks and further queries; otherwise the last one. */
function queryEnd(text: string, from: number): number | null {
  let end = text.indexOf(closing, from)
  for (let tried = 0; end >= 0 && tried < closingsTried; tried += 1) {
    const after = skipSpace(text, readBlocks(text, end + closing.length).at(-1)?.end ?? end + closing.length)
    if (after === text.length || text.startsWith(opening, after)) return end
    end = text.indexOf(closing, end + 1)
  }
  const last = text.lastIndexOf(closing)
  return last < from ? null : last
}

/** The line breaks next to the tags are Cursor's; everything else is the user's. */
const withoutOuterBreaks = (text: string): string => text.replace(/^\r?\n/, '').replace(/\r?\n$/, '')

const blockStart = /(?:(\[Image\])|<([a-z][\w-]*)(?:\s[^<>]*)?>)/y

/** The consecutive blocks from this position, up to a query or other text. */
function readBlocks(text: string, from: number): Block[] {
  const blocks: Block[] = []
  for (let at = skipSpace(text, from); !text.startsWith(opening, at); at = skipSpace(text, at)) {
    blockStart.lastIndex = at
    const [tag, mark, name = ''] = blockStart.exec(text) ?? []
    if (tag === undefined) break
    const bodyAt = at + tag.length
    const bodyEnd = mark === undefined ? text.indexOf(`</${name}>`, bodyAt) : bodyAt
    if (bodyEnd < 0) break
    at = mark === undefined ? bodyEnd + name.length + 3 : bodyAt
    blocks.push({ name, body: text.slice(bodyAt, bodyEnd), end: at })
  }
  return blocks
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}

function pathsIn({ name, body }: Block): string[] {
  if (name === 'attached_files') return [...body.matchAll(/\spath="([^"\n]+)"/g)].map(([, path]) => path ?? '')
  if (name !== 'image_files') return []
  // A numbered list below a sentence for the model, or only paths.
  return body.split('\n').flatMap((line) => {
    const entry = line.trim()
    const path = /^\d+\. +(.+)$/.exec(entry)?.[1] ?? entry
    return /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(path) ? [path] : []
  })
}
