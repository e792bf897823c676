import { createHash } from 'node:crypto'
import type { Json } from '../../model/json.ts'
import type { AttachmentPart, CodePart, Part, TextPart, ThinkingPart, TodoPart, ToolPart } from '../../model/part.ts'
import { stretchesOf } from '../../text/passages/spoken-texts.ts'
import { durationText, isDone, payloadText, todoMark } from '../../shared/part.ts'
import { chatFacts, maskedSentence, messageMarks, messageTime, roleName, type FileWriter } from './facts.ts'
import { EXPORT_STYLE, PAGE_CSP } from './html-style.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

/** One self-contained page: no script, nothing loaded, all content as text. */
export const htmlWriter: FileWriter = (chat, stamp) => ({
  head: headOf(chat),
  *message(message) {
    yield openingOf(message)
    for (const part of message.parts) yield htmlOf(part)
    yield '</article>\n'
  },
  end() {
    const masked = maskedSentence(stamp)
    return `</main>\n${masked === null ? '' : `<footer><p>${htmlText(masked)}</p></footer>\n`}</body>\n</html>\n`
  },
})

function headOf(chat: Chat): string {
  const title = htmlText(chat.title)
  const facts = chatFacts(chat).map(({ name, value }) => `<dt>${name}</dt><dd>${htmlText(value)}</dd>\n`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${PAGE_CSP}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${EXPORT_STYLE}</style>
</head>
<body>
<header>
<h1 dir="auto">${title}</h1>
<dl>
${facts.join('')}</dl>
</header>
<main>
`
}

function openingOf(message: Message): string {
  const anchor = anchorOf(message)
  const time = messageTime(message)
  const marks = messageMarks(message).map((mark) => `<span>${htmlText(mark)}</span>\n`)
  return `<article id="${anchor}" class="${message.role === 'user' ? 'user' : 'assistant'}">
<header>
<h2>${roleName(message)}</h2>
${time === null ? '' : `<time datetime="${htmlText(message.createdAt ?? '')}">${htmlText(time)}</time>\n`}${marks.join('')}<a href="#${anchor}" aria-label="Link to this message">#${message.position ?? ''}</a>
</header>
`
}

/** An id can contain any characters, so the page contains only a hash of it. */
function anchorOf({ id, position }: Message): string {
  const hash = createHash('sha256').update(id).digest('hex')
  return position === null ? `orphan-${hash.slice(0, 12)}` : `m${position}-${hash.slice(0, 8)}`
}

function htmlOf(part: Part): string {
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
  const lines = text.replaceAll('\r\n', '\n')
  const stretches = stretchesOf(lines) ?? [{ start: 0, end: lines.length, isCode: false }]
  return stretches.map(({ start, end, isCode }) => (isCode ? fenced : prose)(lines.slice(start, end))).join('')
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
  const body = `${payloadOf('Input', tool.input)}${payloadOf('Output', tool.output)}${payloadOf('Error', tool.error, 'bad')}`
  return `<details class="tool">\n<summary>${head}</summary>\n${body}</details>\n`
}

function payloadOf(name: string, payload: Json, tone?: string): string {
  const shown = payloadText(payload)
  return shown === null ? '' : `<div class="name">${name}</div>\n${block(shown.text, tone)}`
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
function htmlText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unseen, asEscape)
    .replace(/[&<>"']/gu, (sign) => entities[sign] ?? sign)
}

function asEscape(sign: string): string {
  const code = sign.charCodeAt(0).toString(16)
  return sign < '\u0100' ? String.raw`\x${code.padStart(2, '0')}` : String.raw`\u${code.padStart(4, '0')}`
}
