import type { Json } from '../../model/json.ts'
import type { AttachmentPart, CodePart, Part, TextPart, ThinkingPart, TodoPart, ToolPart } from '../../model/part.ts'
import { readBlocks } from './blocks.ts'
import { durationText, isDone, payloadText, todoMark } from './facts.ts'

export function htmlOf(part: Part): string {
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
    case 'summary': {
      const name = part.kind === 'summary' ? 'Summary' : `Plan${part.title === null ? '' : `: ${part.title}`}`
      return `<p class="name">${htmlText(name)}</p>\n${textOf({ kind: 'text', text: part.text })}`
    }
    default:
      return `<p class="name bad">Error</p>\n${block(part.text, 'bad')}`
  }
}

/** Markdown as it was written, with its code highlighted. */
function textOf({ text }: TextPart): string {
  const { stretches } = readBlocks(text.replaceAll('\r\n', '\n'))
  return stretches.map((stretch) => (stretch.kind === 'code' ? fenced(stretch.text) : prose(stretch.text))).join('')
}

function prose(text: string): string {
  const body = text.replace(/^(?:[ \t]*\n)+/u, '').trimEnd()
  if (body === '') return ''
  const html = htmlText(body).replace(/`[^`\n]+`/gu, '<code>$&</code>')
  return `<div class="text" dir="auto">${html}</div>\n`
}

/** A code block with its fences in a softer colour. */
function fenced(text: string): string {
  const html = htmlText(text.replace(/\n$/u, ''))
    .replace(/^[^\n]*/u, '<span class="soft">$&</span>')
    .replace(/\n([ \t>]*(?:`{3,}|~{3,})[ \t]*)$/u, '\n<span class="soft">$1</span>')
  return `<pre>\n${html}</pre>\n`
}

function thinkingOf({ text, durationMs }: ThinkingPart): string {
  const took = durationMs === null ? '' : ` <span class="soft">${durationText(durationMs)}</span>`
  return `<details class="thinking">\n<summary>Thinking${took}</summary>\n${prose(text)}</details>\n`
}

function codeOf({ text, language, path }: CodePart): string {
  const names = [path, language].filter((name) => name !== null && name !== '').map((name) => htmlText(String(name)))
  const caption = names.length === 0 ? '' : `<figcaption>${names.join(' · ')}</figcaption>\n`
  return `<figure>\n${caption}${block(text)}</figure>\n`
}

function toolOf(tool: ToolPart): string {
  const tone = tool.status === 'completed' || tool.status === 'running' ? 'soft' : 'bad'
  const paths = tool.paths.length === 0 ? '' : ` <span class="soft">${htmlText(tool.paths.join(', '))}</span>`
  const head = `<code>${htmlText(tool.name)}</code> <span class="${tone}">${tool.status}</span>${paths}`
  const error = tool.error === null ? '' : named('Error', block(tool.error, 'bad'))
  const body = `${payloadOf('Input', tool.input)}${payloadOf('Output', tool.output)}${error}`
  return `<details class="tool">\n<summary>${head}</summary>\n${body}</details>\n`
}

function payloadOf(name: string, payload: Json): string {
  const shown = payloadText(payload)
  return shown === null ? '' : named(name, block(shown.text))
}

function attachmentOf({ path, text, cappedFrom }: AttachmentPart): string {
  const cap = cappedFrom === undefined ? '' : ` <span class="soft">its beginning, of ${cappedFrom} bytes</span>`
  const name = `Attachment: <code>${htmlText(path)}</code>${cap}`
  if (text === null) return `<p class="name">${name}</p>\n`
  return `<details>\n<summary>${name}</summary>\n${block(text)}</details>\n`
}

function todosOf({ items }: TodoPart): string {
  const lines = items.map((item) => {
    const mark = todoMark(item)
    const state = mark === null ? '' : ` <span class="soft">${htmlText(mark)}</span>`
    const [box, tone] = isDone(item) ? ['☑', ' class="done"'] : ['☐', '']
    return `<li>${box} <span${tone}>${htmlText(item.content)}</span>${state}</li>\n`
  })
  return `<ul class="todo">\n${lines.join('')}</ul>\n`
}

const named = (name: string, html: string): string => `<div class="name">${name}</div>\n${html}`

/** HTML parsers drop the first line feed after `<pre>`, so one is added. */
function block(text: string, tone?: string): string {
  return `<pre${tone === undefined ? '' : ` class="${tone}"`}>\n${htmlText(text)}</pre>\n`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

// C0 except tab and line feed, DEL, C1, the marks of writing direction, which make the shown text differ from the real
// text, and lone surrogates, which no encoding can represent.
const unseen = /[^\P{Cc}\t\n]|[\p{Bidi_Control}\p{Surrogate}]/gu

/** Escapes text from a chat for any place in a page. Nothing in it is markup, and nothing is invisible. */
export function htmlText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unseen, asEscape)
    .replace(/[&<>"']/gu, (sign) => entities[sign] ?? sign)
}

function asEscape(sign: string): string {
  const code = sign.charCodeAt(0).toString(16)
  return sign < '\u0100' ? String.raw`\x${code.padStart(2, '0')}` : String.raw`\u${code.padStart(4, '0')}`
}
