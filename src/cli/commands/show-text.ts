import type { Chat } from '../../api/answers/chats.ts'
import type { Message } from '../../api/answers/messages.ts'
import type { Part, TodoItem, ToolPart } from '../../model/part.ts'
import { fieldsOf, firstText, summaryOf } from '../../shared/tool-summary.ts'
import { printableLine } from '../../text/printable.ts'
import { countText, durationText, machineText, timeText } from '../terminal/formats.ts'
import { cutTo, displayWidth, lines, renderCode, renderMarkdown, wrapLine } from '../terminal/text.ts'
import type { Screen } from '../terminal/screen.ts'

/** How many lines of a failed call's output are shown. */
const FAILED_LINES = 5
const DETAIL_INDENT = 4

/** How a chat is shown. In a pipe: in full, as it was written, and without a limit on lines. */
export interface View {
  readonly screen: Screen
  /** Columns of the terminal. */
  readonly width: number
  /** Shows thinking, inputs and outputs in full. Else thinking and outputs are folded. */
  readonly isFull: boolean
}

/** Title, facts and id of a chat. */
export function renderHead(chat: Chat, { screen, width }: View): string {
  const facts = [
    chat.project?.name,
    chat.machine === null ? null : machineText(chat.machine),
    activeText(chat, screen),
    countText(chat.messageCount, 'message'),
    chat.model,
    chat.isArchived ? 'archived' : null,
    chat.deletedInCursor ? 'deleted in Cursor' : null,
  ]
  return [
    ...wrapLine(printableLine(chat.title), width).map(screen.colours.bold),
    ...wrapLine(dotted(facts), width),
    ...wrapLine(printableLine(chat.id), width),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function activeText({ createdAt, lastActivityAt }: Chat, screen: Screen): string {
  const to = timeText(lastActivityAt, screen)
  const from = timeText(createdAt, screen)
  return screen.width !== null || from === to ? to : `${from} to ${to}`
}

/** @param shortId null leaves out the head */
export function renderMessage(message: Message, view: View, shortId: string | null): string {
  const { screen, width } = view
  const { bold, green, blue } = screen.colours
  const facts = [
    message.role,
    timeText(message.createdAt, screen),
    message.model,
    `@${shortId ?? ''}`,
    message.isOrphan ? 'orphan' : null,
    message.deletedInCursor ? 'deleted in Cursor' : null,
    message.isIndexCapped ? 'only partly indexed' : null,
  ]
  const head = bold((message.role === 'user' ? green : blue)(cutTo(`── ${dotted(facts)}`, width)))
  const parts = message.parts.flatMap((part) => renderPart(part, view))
  return [...(shortId === null ? [] : ['', head]), ...parts].map((line) => `${line}\n`).join('')
}

/**
 * Cursor writes each tool call as a message of its own. Such a message is shown below the one before, without a head.
 * @param before null at the beginning
 */
export const continues = (message: Message, before: Message | null): boolean =>
  before?.role === 'assistant' &&
  message.role === 'assistant' &&
  !message.isOrphan &&
  message.deletedInCursor === before.deletedInCursor &&
  message.parts.every(({ kind }) => kind === 'tool' || kind === 'thinking')

const dotted = (facts: readonly (string | null | undefined)[]): string =>
  facts
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => printableLine(String(fact)))
    .join(' · ')

function renderPart(part: Part, view: View): string[] {
  const { screen, width, isFull } = view
  const { dim, red } = screen.colours
  switch (part.kind) {
    case 'text':
      return screen.width === null ? lines(part.text) : renderMarkdown(part.text, width, screen)
    case 'thinking': {
      const head = `thinking${part.durationMs === null ? '' : ` ${durationText(part.durationMs)}`}: `
      if (isFull) return [dim(head.trimEnd()), ...details(part.text, width, dim)]
      return [dim(cutTo(head + firstLine(part.text, width), width))]
    }
    case 'code':
      return [dim(cutTo(dotted([part.path, part.language]), width)), ...renderCode(part.text, width, screen)]
    case 'tool':
      return renderTool(part, view)
    case 'attachment':
      return [dim(cutTo(`attached: ${printableLine(part.path)}`, width))]
    case 'todo':
      return part.items.map((item) => cutTo(todoLine(item), width))
    case 'plan':
    case 'summary': {
      const head = dim(cutTo(printableLine(part.kind === 'summary' ? 'summary' : dotted(['plan', part.title])), width))
      return [head, ...(screen.width === null ? lines(part.text) : renderMarkdown(part.text, width, screen))]
    }
    default:
      return wrapLine(printableLine(`error: ${part.text}`), width).map(red)
  }
}

const details = (text: string, width: number, paint: (line: string) => string): string[] =>
  lines(text)
    .flatMap((line) => wrapLine(line, width - DETAIL_INDENT))
    .map((line) => line && ' '.repeat(DETAIL_INDENT) + paint(line))

const todoLine = ({ content, status }: TodoItem): string =>
  `[${status === 'completed' ? 'x' : ' '}] ${printableLine(content)}`

/** `› edit_file  src/cart.ts`: the command, the path or the query, and how it ended if not well. */
function renderTool(tool: ToolPart, { screen, width, isFull }: View): string[] {
  const { dim, red, yellow } = screen.colours
  const isFailed = tool.status === 'error'
  const name = `› ${cutTo(printableLine(tool.name), Math.floor(width / 3))}  `
  const end = cutTo(outcomeOf(tool), Math.floor(width / 3))
  const room = width - displayWidth(name) - (end === '' ? 0 : displayWidth(end) + 2)
  const what = cutTo(printableLine(summaryOf(tool)), room)
  const ending = end === '' ? '' : `  ${isFailed ? red(end) : yellow(end)}`
  const line = `${isFailed ? red(name) : dim(name)}${what}${ending}`
  const output = outputOf(tool)
  if (isFull) {
    const input = typeof tool.input === 'string' ? tool.input : JSON.stringify(tool.input, null, 2)
    return [
      line,
      ...[input, tool.error ?? '', output].filter((text) => text !== '').flatMap((text) => details(text, width, dim)),
    ]
  }
  if (!isFailed) return [line]
  const all = lines(output === '' ? (tool.error ?? '') : output)
  const shown = all
    .slice(0, FAILED_LINES)
    .map((each) => ' '.repeat(DETAIL_INDENT) + red(cutTo(each, width - DETAIL_INDENT)))
  const more = all.length - shown.length
  return [line, ...shown, ...(more > 0 ? [dim(`${' '.repeat(DETAIL_INDENT)}and ${countText(more, 'more line')}`)] : [])]
}

/** How a call ended, if it did not just end well: `exit 1`, `rejected`. */
function outcomeOf({ status, error, output }: ToolPart): string {
  const { exitCode } = fieldsOf(output)
  const code = typeof exitCode === 'number' ? exitCode : /exit (?:code|status) (\d+)/.exec(error ?? '')?.[1]
  if (status === 'error') return code === undefined ? firstLine(error ?? 'failed', 200) : `exit ${code}`
  if (status === 'completed') return code === undefined || code === 0 ? '' : `exit ${code}`
  return status
}

/** The text of an output, without the JSON around it. */
function outputOf({ output }: ToolPart): string {
  if (output === null || output === undefined) return ''
  if (typeof output === 'string') return output
  const names = ['output', 'contents', 'content', 'text', 'answer', 'result']
  return firstText(fieldsOf(output), names) ?? JSON.stringify(output, null, 2)
}

/** The first line of a text that is not blank, cut to the width. */
const firstLine = (text: string, width: number): string =>
  cutTo(printableLine(text.trimStart().split('\n', 1)[0] ?? ''), width)
