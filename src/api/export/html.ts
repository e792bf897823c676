import { createHash } from 'node:crypto'
import type { Part, ToolPart } from '../../model/part.ts'
import { partText, payloadText } from '../../shared/part.ts'
import { chatFacts, maskedSentence, messageMarks, messageTime, roleName, type FileWriter } from './facts.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

const EXPORT_STYLE = `
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 54rem; padding: 2rem 1rem; font: 16px/1.6 system-ui, sans-serif; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem }
dd { margin: 0 }
dt, article > header, .name { color: GrayText; font-size: .9rem }
article { margin: 0 0 1rem; padding: .5rem 1rem; border-left: .25rem solid transparent }
article.user { border-color: LinkText }
article > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem }
article > header > h2 { margin: 0; color: CanvasText; font-size: 1rem }
article > header > a { margin-left: auto }
.text, pre { margin: .5rem 0; white-space: pre-wrap; tab-size: 4 }
pre { padding: .5rem 1rem; border: 1px solid GrayText; font: .85rem/1.5 ui-monospace, Menlo, Consolas, monospace }
@media print {
  details:not([open])::details-content { content-visibility: visible; display: block; height: auto }
}
`

const styleHash = `'sha256-${createHash('sha256').update(EXPORT_STYLE).digest('base64')}'`

/** The policy within the page: it may show text in this style, and load or run nothing. */
const PAGE_CSP = ["default-src 'none'", `style-src ${styleHash}`, "base-uri 'none'", "form-action 'none'"].join('; ')

/** The policy as a header. Only a header can forbid framing. */
export const HEADER_CSP = `${PAGE_CSP}; frame-ancestors 'none'; sandbox`

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

/** Text as it was written, in Markdown. Other parts are named, and what is long and seldom read is folded under its name. */
function htmlOf(part: Part): string {
  if (part.kind === 'text') {
    const text = part.text.trimEnd()
    return text === '' ? '' : `<div class="text" dir="auto">${htmlText(text)}</div>\n`
  }
  const name = htmlText(nameOf(part).trim())
  const text = part.kind === 'tool' ? payloadsOf(part) : partText(part)
  const isFolded = part.kind === 'thinking' || part.kind === 'tool' || part.kind === 'attachment'
  if (!isFolded) return `<p class="name">${name}</p>\n${block(text)}`
  return `<details>\n<summary>${name}</summary>\n${block(text)}</details>\n`
}

function nameOf(part: Part): string {
  switch (part.kind) {
    case 'tool':
      return `${part.name} ${part.status} ${part.paths.join(', ')}`
    case 'attachment':
      return `Attachment ${part.path}${part.cappedFrom === undefined ? '' : ` (its beginning, of ${part.cappedFrom} bytes)`}`
    case 'plan':
      return `Plan ${part.title ?? ''}`
    default:
      return part.kind.charAt(0).toUpperCase() + part.kind.slice(1)
  }
}

const payloadsOf = ({ input, output, error }: ToolPart): string =>
  [input, output, error].flatMap((payload) => payloadText(payload)?.text ?? []).join('\n\n')

/** HTML parsers drop the first line feed after `<pre>`, so one is added. */
const block = (text: string): string => `<pre>\n${htmlText(text)}</pre>\n`

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
