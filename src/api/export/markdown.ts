import type { Json } from '../../model/json.ts'
import type { AttachmentPart, CodePart, Part, TextPart, ThinkingPart, TodoPart, ToolPart } from '../../model/part.ts'
import { readBlocks } from './blocks.ts'
import { chatFacts, durationText, isDone, messageMarks, messageTime, payloadText, roleName, todoMark } from './facts.ts'
import { maskedSentence, type ExportStamp } from './stamp.ts'
import { codeSpan, fenced, plain, quoted } from './markdown-text.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

/** A document with the facts and then a heading for each message. Texts are unchanged. */
export function* toMarkdown(chat: Chat, messages: Iterable<Message>, stamp?: ExportStamp): Generator<string> {
  const facts = chatFacts(chat).map(({ name, value }) => `- ${name}: ${plain(value)}\n`)
  yield `# ${plain(chat.title)}\n\n${facts.join('')}`
  for (const message of messages) {
    yield `\n## ${plain([roleName(message), messageTime(message), ...messageMarks(message)].filter(Boolean).join(' · '))}\n`
    for (const part of message.parts) yield `\n${markdownOf(part)}`
  }
  const masked = maskedSentence(stamp)
  if (masked !== null) yield `\n---\n\n${masked}\n`
}

function markdownOf(part: Part): string {
  switch (part.kind) {
    case 'text':
      return textOf(part)
    case 'thinking':
      return thinkingOf(part)
    case 'code':
      return codeOf(part)
    case 'tool':
      return toolOf(part)
    case 'attachment':
      return attachmentOf(part)
    case 'todo':
      return todosOf(part)
    case 'plan':
      return `**Plan**${part.title === null ? '' : ` ${codeSpan(part.title)}`}\n\n${textOf({ kind: 'text', text: part.text })}`
    case 'summary':
      return `**Summary**\n\n${textOf({ kind: 'text', text: part.text })}`
    default:
      return `**Error**\n\n${fenced(part.text)}`
  }
}

/** Unchanged, except that an open block is closed. Otherwise the next messages would belong to it. */
function textOf({ text }: TextPart): string {
  const { closing } = readBlocks(text)
  const end = text.endsWith('\n') ? '' : '\n'
  return `${text}${end}${closing === null ? '' : `${closing}\n`}`
}

function thinkingOf({ text, durationMs }: ThinkingPart): string {
  return `> **Thinking**${durationMs === null ? '' : ` (${durationText(durationMs)})`}\n>\n${quoted(text)}`
}

function codeOf({ text, language, path }: CodePart): string {
  return `${path === null ? '' : `${codeSpan(path)}\n\n`}${fenced(text, language ?? '')}`
}

function toolOf(tool: ToolPart): string {
  const paths = tool.paths.length === 0 ? '' : `\n${tool.paths.map(codeSpan).join(', ')}\n`
  const error = tool.error === null ? '' : `\nError:\n\n${fenced(tool.error)}`
  const head = `### Tool: ${codeSpan(tool.name)} · ${tool.status}\n`
  return `${head}${paths}${payloadOf('Input', tool.input)}${payloadOf('Output', tool.output)}${error}`
}

function payloadOf(name: string, payload: Json): string {
  const shown = payloadText(payload)
  return shown === null ? '' : `\n${name}:\n\n${fenced(shown.text, shown.isJson ? 'json' : '')}`
}

function attachmentOf({ path, text, cappedFrom }: AttachmentPart): string {
  const cap = cappedFrom === undefined ? '' : `\n(its beginning, of ${cappedFrom} bytes)\n`
  return `### Attachment: ${codeSpan(path)}\n${text === null ? '' : `${cap}\n${fenced(text)}`}`
}

function todosOf({ items }: TodoPart): string {
  return items
    .map((item) => {
      const mark = todoMark(item)
      return `- [${isDone(item) ? 'x' : ' '}] ${plain(item.content)}${mark === null ? '' : ` (${plain(mark)})`}\n`
    })
    .join('')
}
