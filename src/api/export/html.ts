import { createHash } from 'node:crypto'
import { chatFacts, messageMarks, messageTime, roleName } from './facts.ts'
import { htmlOf, htmlText } from './html-parts.ts'
import { EXPORT_STYLE, PAGE_CSP } from './html-style.ts'
import { maskedSentence, type ExportStamp } from './stamp.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

/** One self-contained page: no script, nothing loaded, all content as text. */
export function* toHtml(chat: Chat, messages: Iterable<Message>, stamp?: ExportStamp): Generator<string> {
  yield headOf(chat)
  for (const message of messages) {
    yield openingOf(message)
    for (const part of message.parts) yield htmlOf(part)
    yield '</article>\n'
  }
  const masked = maskedSentence(stamp)
  yield `</main>\n${masked === null ? '' : `<footer><p>${htmlText(masked)}</p></footer>\n`}</body>\n</html>\n`
}

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
