import { createHash } from 'node:crypto'
import type { Part } from '../../model/part.ts'
import { stretchesOf } from '../../text/passages/spoken-texts.ts'
import { durationText, isDone, payloadText, todoMark } from '../../shared/part.ts'
import { chatFacts, maskedSentence, messageMarks, messageTime, roleName, type FileWriter } from './facts.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

const EXPORT_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fff; --ink: #1f2328; --soft: #59636e; --line: #d8dee4; --user: #f0f5fb; --mark: #0969da; --code: #f6f8fa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171c; --ink: #dfe4ea; --soft: #929ba6; --line: #333a43; --user: #1c2430; --mark: #6cb1ff;
    --code: #1d2127;
  }
}
* { box-sizing: border-box }
body {
  margin: 0 auto; max-width: 54rem; padding: 2rem 1rem 6rem;
  background: var(--ground); color: var(--ink); font: 16px/1.6 system-ui, sans-serif;
}
h1 { margin: 0 0 1rem; font-size: 1.7rem; line-height: 1.25; overflow-wrap: anywhere }
dl {
  display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 2rem; padding-bottom: 1.5rem;
  border-bottom: 1px solid var(--line); font-size: .9rem;
}
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
article { margin: 0 0 1rem; padding: .75rem 1rem 1rem; border-radius: .6rem; border: 1px solid transparent }
article.user { background: var(--user); border-color: var(--line) }
article:target { border-color: var(--mark) }
article > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem; margin-bottom: .3rem }
article > header > * { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere }
article > header > h2 { margin: 0; color: var(--ink); font-size: 1rem }
article > header > a { margin-left: auto; text-decoration: none }
article > header > a:hover, article > header > a:focus-visible { color: var(--mark); text-decoration: underline }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
.text, article > details, article > p { margin: .6rem 0 0 }
pre, code { font-family: ui-monospace, 'SFMono-Regular', Menlo, Consolas, monospace }
code { font-size: .88em; overflow-wrap: anywhere }
pre {
  margin: .4rem 0; padding: .7rem .9rem; border-radius: .4rem; background: var(--code); border: 1px solid var(--line);
  font-size: .84rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4;
}
.name { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere }
details { padding: .35rem .8rem; border: 1px solid var(--line); border-radius: .4rem; font-size: .92rem }
summary { cursor: pointer; overflow-wrap: anywhere }
details[open] > summary { margin-bottom: .5rem }
@media print {
  body { max-width: none; padding: 0 }
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

/** Text as text. What is long and seldom read is folded under its name. */
function htmlOf(part: Part): string {
  switch (part.kind) {
    case 'text':
      return textOf(part.text)
    case 'thinking':
      return folded(['Thinking', part.durationMs === null ? '' : durationText(part.durationMs)], textOf(part.text))
    case 'tool': {
      const payloads = [
        ['Input', part.input] as const,
        ['Output', part.output] as const,
        ['Error', part.error] as const,
      ]
      const shown = payloads.map(([name, payload]) => [name, payloadText(payload)?.text ?? ''] as const)
      const body = shown.map(([name, text]) => (text === '' ? '' : named([name]) + block(text))).join('')
      return folded([part.name, part.status, part.paths.join(', ')], body)
    }
    case 'attachment': {
      const cap = part.cappedFrom === undefined ? '' : `(its beginning, of ${part.cappedFrom} bytes)`
      const name = ['Attachment:', part.path, cap]
      return part.text === null ? named(name) : folded(name, block(part.text))
    }
    case 'code':
      return named([part.path ?? '', part.language ?? '']) + block(part.text)
    case 'todo':
      return block(
        part.items
          .map((item) => `${isDone(item) ? '☑' : '☐'} ${item.content} ${todoMark(item) ?? ''}`.trimEnd())
          .join('\n'),
      )
    case 'plan':
    case 'summary':
      return named(part.kind === 'summary' ? ['Summary'] : ['Plan', part.title ?? '']) + textOf(part.text)
    default:
      return named(['Error']) + block(part.text)
  }
}

/** What a part is called; nothing if nothing is known. */
const namesOf = (names: readonly string[]): string => htmlText(names.filter((name) => name !== '').join(' '))
const named = (names: readonly string[]): string => {
  const text = namesOf(names)
  return text === '' ? '' : `<p class="name">${text}</p>\n`
}
const folded = (names: readonly string[], body: string): string =>
  `<details>\n<summary>${namesOf(names)}</summary>\n${body}</details>\n`

/** Markdown as it was written, its blocks of code apart. */
function textOf(text: string): string {
  const lines = text.replaceAll('\r\n', '\n')
  const stretches = stretchesOf(lines) ?? [{ start: 0, end: lines.length, isCode: false }]
  return stretches
    .map(({ start, end, isCode }) => {
      const each = lines.slice(start, end)
      return isCode ? block(each.replace(/\n$/u, '')) : prose(each)
    })
    .join('')
}

function prose(text: string): string {
  const body = text.replace(/^(?:[ \t]*\n)+/u, '').trimEnd()
  if (body === '') return ''
  const html = htmlText(body).replace(/`[^`\n]+`/gu, '<code>$&</code>')
  return `<div class="text" dir="auto">${html}</div>\n`
}

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
