import { z } from 'zod'
import { displayWidth, fitting } from '../terminal/display-width.ts'
import { countText, durationText, localTime } from '../terminal/formats.ts'
import { printable, printableLine } from '../../text/printable.ts'
import type { Screen } from '../terminal/screen.ts'

export const chatHead = z.object({
  id: z.string(),
  title: z.string(),
  project: z.object({ name: z.string() }).nullable(),
  createdAt: z.string().nullable(),
  lastActivityAt: z.string().nullable(),
  model: z.string().nullable(),
  messageCount: z.number(),
  isArchived: z.boolean(),
  deletedInCursor: z.boolean(),
})

const part = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('thinking'), text: z.string(), durationMs: z.number().nullable() }),
  z.object({
    kind: z.literal('code'),
    language: z.string().nullable(),
    path: z.string().nullable(),
    text: z.string(),
  }),
  z.object({
    kind: z.literal('tool'),
    name: z.string(),
    status: z.string(),
    output: z.unknown(),
    error: z.string().nullable(),
    paths: z.array(z.string()),
  }),
  z.object({ kind: z.literal('attachment'), path: z.string() }),
  z.object({
    kind: z.literal('todo'),
    items: z.array(z.object({ content: z.string(), status: z.string().nullable() })),
  }),
  z.object({ kind: z.literal('error'), text: z.string() }),
])
type ShownPart = z.infer<typeof part>
type ShownTool = Extract<ShownPart, { kind: 'tool' }>

export const messageShape = z.object({
  id: z.string(),
  role: z.string(),
  createdAt: z.string().nullable(),
  model: z.string().nullable(),
  parts: z.array(part),
  isOrphan: z.boolean(),
  deletedInCursor: z.boolean(),
  isIndexCapped: z.boolean().default(false),
})
export type ShownMessage = z.infer<typeof messageShape>

export function renderChatHead(chat: z.infer<typeof chatHead>, { colours, timeZone }: Screen): string {
  const from = localTime(chat.createdAt, timeZone)
  const to = localTime(chat.lastActivityAt, timeZone)
  const facts = [
    chat.project?.name,
    from === to ? from : `${from} to ${to}`,
    countText(chat.messageCount, 'message'),
    chat.model,
    chat.isArchived ? 'archived' : null,
    chat.deletedInCursor ? 'deleted in Cursor' : null,
  ]
  return `${colours.bold(printableLine(chat.title))}\n${dotted(facts)}\n${printableLine(chat.id)}\n`
}

export function renderMessage(message: ShownMessage, screen: Screen): string {
  const facts = [
    message.role,
    localTime(message.createdAt, screen.timeZone),
    message.model,
    message.isOrphan ? 'orphan' : null,
    message.deletedInCursor ? 'deleted in Cursor' : null,
    message.isIndexCapped ? 'too long to be indexed whole' : null,
  ]
  const head = screen.colours.bold(`── ${dotted(facts)}`)
  return `${head}\n${message.parts.map((each) => `${renderPart(each, screen)}\n`).join('')}`
}

const dotted = (facts: readonly (string | null | undefined)[]) =>
  facts
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => printableLine(String(fact)))
    .join(' · ')

function renderPart(shown: ShownPart, screen: Screen): string {
  const { dim } = screen.colours
  switch (shown.kind) {
    case 'text':
      return block(shown.text)
    case 'thinking':
      return dim(`${thinkingHead(shown.durationMs)}\n${indented(shown.text)}`)
    case 'code':
      return `${codeHead(shown.language, shown.path)}\n${indented(shown.text)}`
    case 'tool':
      return toolLine(shown, screen)
    case 'attachment':
      return `[attachment] ${printableLine(shown.path)}`
    case 'todo':
      return shown.items.map(todoLine).join('\n')
    default:
      return screen.colours.red(`[error] ${block(shown.text)}`)
  }
}

// A line break of Windows would show its carriage return on every line.
const block = (text: string) => printable(text.replaceAll('\r\n', '\n').replace(/\n+$/, ''))

const indented = (text: string) => block(text).replace(/^(?=.)/gm, '  ')

const thinkingHead = (durationMs: number | null) =>
  durationMs === null ? '[thinking]' : `[thinking, ${durationText(durationMs)}]`

const codeHead = (language: string | null, path: string | null) => `[code] ${dotted([path, language])}`.trimEnd()

const todoLine = ({ content, status }: { readonly content: string; readonly status: string | null }) =>
  `[${status === 'completed' ? 'x' : ' '}] ${printableLine(content)}`

/** Name, status, paths, and as much of what came back as stands on one line. */
function toolLine(tool: ShownTool, screen: Screen): string {
  const told = tool.error ?? tool.output
  const outcome = typeof told === 'string' ? told : told === null || told === undefined ? '' : JSON.stringify(told)
  const line = `[tool] ${dotted([`${tool.name}: ${tool.status}`, tool.paths.join(', ')])}`
  const room = Math.max(24, (screen.width ?? 200) - displayWidth(line) - 4)
  const full = printableLine(outcome.slice(0, 4000))
  const shown = displayWidth(full) <= room && outcome.length <= 4000 ? full : `${fitting(full, room - 1)}…`
  return shown === '' ? line : `${line} → ${shown}`
}
