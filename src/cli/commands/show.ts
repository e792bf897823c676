import { Option, type Command } from 'commander'
import type { Chat } from '../../api/answers/chats.ts'
import type { Message } from '../../api/answers/messages.ts'
import type { ApiRoutes } from '../../api/http/routes.ts'
import type { Part, TodoItem, ToolPart } from '../../model/part.ts'
import { fieldsOf, firstText, summaryOf } from '../../shared/tools.ts'
import { printable, printableLine } from '../../text/printable.ts'
import type { Answers } from '../client/client.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { wholeNumber, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { countText, durationText, machineText, shownIds, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { cutTo, displayWidth, lines, renderCode, renderMarkdown, wrapLine } from '../terminal/text.ts'

const PAGE_MESSAGES_MAX = 200

export function addCommand(program: Command, session: Session): void {
  const anyNumber = wholeNumber(1, Number.MAX_SAFE_INTEGER)
  const command = program
    .command('show')
    .description('print a chat')
    .argument('<chatId>', `the chat: ${CHAT_ID}`)
    .option('--orphans', 'also messages that the chat no longer lists, at the end')
    .option('-n, --limit <n>', 'how many messages to print at most; by default all', anyNumber)
    .option('--around <messageId>', 'only the messages around this one; the beginning of its id is enough')
    .option('--full', 'on a terminal, show thinking and tool calls in full')
    .addOption(new Option('--as <format>', 'print the chat as Markdown').choices(['md', 'markdown']).conflicts('json'))
    .option('--no-pager', 'do not use a pager on a terminal')
  const example = 'cursordex show 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
  session.asks(command, [example, `${example} --limit 20 --json`], async (answers, given: string) => {
    const typed = command.opts<Options & { readonly as?: 'md' | 'markdown' }>()
    const id = await completeChatId(answers, given)
    // The output shows ids of messages after an @.
    const around = typed.around?.replace(/^@/, '')
    const thread = (): Promise<Thread> => readThread(answers, id, { ...typed, around })
    if (typed.json === true) return session.printJson(await thread())
    const { screen } = session
    const isPaged = typed.pager !== false
    if (typed.as === undefined) {
      const chat = await answers.get('/api/chats/:id', { id })
      return session.show(renderChat(chat, (await thread()).items, typed.full === true, screen), isPaged)
    }
    const query = { as: 'markdown', includeOrphans: typed.orphans } as const
    const text = await (await answers.open('/api/chats/:id/export', { id, query })).text()
    await session.show(screen.width === null ? text : printable(text), isPaged)
  })
}

type Thread = ApiRoutes['GET /api/chats/:id/messages']['answer']

/** The thread, or the messages around one, as the one page that they would be without the limit on pages. */
async function readThread(
  answers: Answers,
  id: string,
  { around, orphans, limit: wanted = Infinity }: Options,
): Promise<Thread> {
  const items: Thread['items'][number][] = []
  for (;;) {
    const limit = Math.min(PAGE_MESSAGES_MAX, wanted - items.length)
    // The page around a message is the only one, and the server knows its size.
    const place = around === undefined ? { limit, offset: items.length } : { limit: wanted === Infinity ? null : limit }
    const query = { around, includeOrphans: orphans, ...place } as MessagesQuery
    const page = await answers.get('/api/chats/:id/messages', { id, query })
    if (around !== undefined) return page
    items.push(...page.items)
    const isAll = page.items.length === 0 || items.length >= Math.min(wanted, page.total)
    const isOnly = items.length === page.items.length
    if (isAll) return isOnly ? page : { ...page, items, limit: items.length, offset: 0 }
  }
}

type MessagesQuery = ApiRoutes['GET /api/chats/:id/messages']['query']

function renderChat(chat: Chat, messages: readonly Message[], isWanted: boolean, screen: Screen): string {
  const isFull = screen.width === null || isWanted
  const view = { screen, width: screen.width ?? Infinity, isFull }
  const ids = messages.map(({ id }) => id)
  const short = shownIds(ids, screen)
  const shown = messages.map((message, index) => {
    const hasHead = isFull || !continues(message, messages[index - 1] ?? null)
    return renderMessage(message, view, hasHead ? short(message.id) : null)
  })
  return renderHead(chat, view) + shown.join('')
}

/** How many lines of a failed call's output are shown. */
const FAILED_LINES = 5
const DETAIL_INDENT = 4

/** How a chat is shown. In a pipe: in full, as it was written, and without a limit on lines. */
interface View {
  readonly screen: Screen
  /** Columns of the terminal. */
  readonly width: number
  /** Shows thinking, inputs and outputs in full. Else thinking and outputs are folded. */
  readonly isFull: boolean
}

/** Title, facts and id of a chat. */
function renderHead(chat: Chat, { screen, width }: View): string {
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
function renderMessage(message: Message, view: View, shortId: string | null): string {
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
const continues = (message: Message, before: Message | null): boolean =>
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
      const head = dim(cutTo(part.kind === 'summary' ? 'summary' : dotted(['plan', part.title]), width))
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
