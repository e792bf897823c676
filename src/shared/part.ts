import type { Json } from '../model/json.ts'
import type { Part, TodoItem, ToolPart } from '../model/part.ts'
import { summaryOf } from './tools.ts'
import { stretchesOf } from '../text/passages/stretches.ts'

/** A part as plain text, such as an agent reads it. */
export function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'thinking':
      return `<thinking>\n${part.text}\n</thinking>`
    case 'code':
      return `\`\`\`${part.language ?? ''}${part.path === null ? '' : ` ${part.path}`}\n${part.text}\n\`\`\``
    case 'tool': {
      const output = part.error ?? compact(part.output)
      return `Tool ${part.name} (${part.status}): ${compact(part.input)}${output === '' ? '' : `\n-> ${output}`}`
    }
    case 'attachment':
      return `Attachment ${part.path}${part.text === null ? '' : `\n${part.text}`}`
    case 'todo':
      return part.items.map(({ content, status }) => `- [${status ?? ' '}] ${content}`).join('\n')
    case 'plan':
      return `<plan${part.path === null ? '' : ` path="${part.path}"`}>\n${part.text}\n</plan>`
    case 'summary':
      return `<summary>\n${part.text}\n</summary>`
    default:
      return `Error: ${part.text}`
  }
}

const compact = (payload: Json): string =>
  payload === null ? '' : typeof payload === 'string' ? payload : JSON.stringify(payload)

/** A part as Markdown that ends its line. Texts are unchanged. */
export function partMarkdown(part: Part): string {
  switch (part.kind) {
    case 'text': {
      // An open block is closed. Otherwise the next messages would belong to it.
      const closing = closingOf(part.text)
      return `${part.text}${part.text.endsWith('\n') ? '' : '\n'}${closing === null ? '' : `${closing}\n`}`
    }
    case 'thinking': {
      const took = part.durationMs === null ? '' : ` (${durationText(part.durationMs)})`
      return `> **Thinking**${took}\n>\n${quoted(part.text)}`
    }
    case 'code':
      return `${part.path === null ? '' : `${codeSpan(part.path)}\n\n`}${fenced(part.text, part.language ?? '')}`
    case 'tool':
      return toolMarkdown(part)
    case 'attachment': {
      const cap = part.cappedFrom === undefined ? '' : `\n(its beginning, of ${part.cappedFrom} bytes)\n`
      return `### Attachment: ${codeSpan(part.path)}\n${part.text === null ? '' : `${cap}\n${fenced(part.text)}`}`
    }
    case 'todo':
      return part.items
        .map((item) => {
          const mark = todoMark(item)
          return `- [${isDone(item) ? 'x' : ' '}] ${plain(item.content)}${mark === null ? '' : ` (${plain(mark)})`}\n`
        })
        .join('')
    case 'plan':
    case 'summary': {
      const head =
        part.kind === 'summary' ? '**Summary**' : `**Plan**${part.title === null ? '' : ` ${codeSpan(part.title)}`}`
      return `${head}\n\n${partMarkdown({ kind: 'text', text: part.text })}`
    }
    default:
      return `**Error**\n\n${fenced(part.text)}`
  }
}

function toolMarkdown({ name, status, paths, input, output, error }: ToolPart): string {
  const listed = paths.length === 0 ? '' : `\n${paths.map(codeSpan).join(', ')}\n`
  const payloads = `${titled('Input', input)}${titled('Output', output)}${titled('Error', error)}`
  return `### Tool: ${codeSpan(name)} · ${status}\n${listed}${payloads}`
}

function titled(title: string, payload: Json): string {
  const shown = payloadText(payload)
  return shown === null ? '' : `\n${title}:\n\n${fenced(shown.text, shown.isJson ? 'json' : '')}`
}

/** What a part is, without its content: its line breaks are not changed. */
export function partLine(part: Part): string {
  switch (part.kind) {
    case 'tool': {
      const ending = part.status === 'completed' ? '' : ` (${part.status})`
      return `tool ${part.name}${ending}: ${summaryOf(part)}`
    }
    case 'code':
      return `code: ${part.path ?? part.language ?? 'of no file'}`
    case 'attachment':
      return `attached: ${part.path}`
    case 'todo':
      return `todo: ${part.items.filter(isDone).length} of ${part.items.length} done`
    default:
      return `${part.kind}: ${part.text}`
  }
}

/** `3.2 s`, `2 min 5 s`. */
function durationText(durationMs: number): string {
  const seconds = durationMs / 1000
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}

/** Input or output of a tool: text unchanged, anything else as JSON. Null if there is none. */
export function payloadText(payload: Json): { readonly text: string; readonly isJson: boolean } | null {
  if (payload === null || payload === '') return null
  if (typeof payload === 'string') return { text: payload, isJson: false }
  return { text: JSON.stringify(payload, null, 2), isJson: true }
}

const isDone = ({ status }: TodoItem): boolean => status === 'completed'

/** The state of a todo, if its box does not show it. */
const todoMark = ({ status }: TodoItem): string | null =>
  status === null || status === 'completed' || status === 'pending' ? null : status.replaceAll('_', ' ')

/**
 * The line that closes the last fenced block of a Markdown text if the text leaves it open, as an interrupted message does. Without
 * it, the block would swallow what follows. Null if none is open, or if it is indented: such a block ends with the list item that it is in.
 */
export function closingOf(text: string): string | null {
  const last = stretchesOf(text)?.at(-1)
  if (last === undefined || !last.isCode) return null
  const block = text.slice(last.start)
  const [, fence] = /^(`{3,}|~{3,})/u.exec(block) ?? []
  if (fence === undefined) return null
  const [first = '', ...rest] = block.trimEnd().split('\n')
  const isOneLine = fence.startsWith('`') && first.slice(fence.length).includes('`')
  const end = rest.at(-1)?.trim() ?? ''
  return isOneLine || (end.startsWith(fence) && /^(`+|~+)$/u.test(end)) ? null : fence
}

/** A code block whose fence is longer than any within. @param info text after the opening fence */
export function fenced(text: string, info = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${fence}${info.replace(/[^\w+#.-]/gu, '')}\n${text}${end}${fence}\n`
}

/** Code within a line. */
export function codeSpan(text: string): string {
  const line = oneLine(text)
  const ticks = '`'.repeat(longestRun(line) + 1)
  const pad = line === '' || /^`|`$/u.test(line) ? ' ' : ''
  return `${ticks}${pad}${line}${pad}${ticks}`
}

/** Text within a line, with the signs of Markdown and HTML escaped. */
export const plain = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>&#|~]/gu, String.raw`\$&`)

/** Every line as a quote. */
export function quoted(text: string): string {
  const lines = text.trimEnd().split(/\r\n?|\n/u)
  return lines.map((line) => (line === '' ? '>\n' : `> ${line}\n`)).join('')
}

const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/gu)) longest = Math.max(longest, run.length)
  return longest
}
