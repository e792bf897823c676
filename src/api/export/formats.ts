import { partMarkdown, partText, payloadText, plain } from '../../shared/part.ts'
import { printable } from '../../text/printable.ts'
import { createHash } from 'node:crypto'
import type { Part, ToolPart } from '../../model/part.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

export interface MaskedCount {
  /** The kind of secret. */
  readonly kind: string
  readonly count: number
}

/** Facts about the export, which the file contains. */
export interface ExportStamp {
  /** Version of this program. */
  readonly version: string
  readonly exportedAt: string | null
  /** What has been masked so far. Missing if masking is off. */
  readonly masked?: () => readonly MaskedCount[]
}

/** A chat as a file, in pieces: a long chat is not in memory at once. */
type FileWriter = (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Generator<string>

/** How many secrets were masked, for people. The command line reads it at the end of the file. Null if masking is off. */
function maskedSentence({ masked }: ExportStamp): string | null {
  if (masked === undefined) return null
  const counts = masked()
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const kinds = counts.map(({ kind, count }) => `${count} ${kind}`).join(', ')
  const what = total === 0 ? 'nothing' : `${total} ${total === 1 ? 'secret' : 'secrets'} (${kinds})`
  return `Masked in this file: ${what}. No rule finds every secret.`
}

/** The same for programs, as the last members of an object. */
const maskedMembers = (stamp: ExportStamp) => ({ masked: stamp.masked?.(), maskedNote: maskedSentence(stamp) })

/** The texts that there are. */
const joined = (separator: string, texts: readonly (string | false | null)[]): string =>
  texts.filter(Boolean).join(separator)

/** The known facts of a chat, as text for people. Unknown ones are left out. */
function chatFacts(chat: Chat): { readonly name: string; readonly value: string }[] {
  const { machine, linesAdded, linesRemoved, filesChanged } = chat
  const facts: readonly (readonly [name: string, value: string | false | null])[] = [
    ['Project', chat.project?.name ?? null],
    ['Machine', machine !== null && `${machine.user}/${machine.name}`],
    ['Created', timeText(chat.createdAt)],
    ['Last activity', timeText(chat.lastActivityAt)],
    ['Mode', chat.mode],
    ['Model', chat.models.join(', ') || chat.model],
    ['Messages', figure(chat.messageCount)],
    ['Tool calls', chat.toolCallCount > 0 && figure(chat.toolCallCount)],
    [
      'Changes',
      joined(' ', [
        linesAdded !== null && `+${figure(linesAdded)}`,
        linesRemoved !== null && `-${figure(linesRemoved)}`,
        filesChanged !== null && `in ${figure(filesChanged)} ${filesChanged === 1 ? 'file' : 'files'}`,
      ]),
    ],
    ['State', joined(', ', [chat.isArchived && 'archived', chat.isSubagent && 'subagent', deletedMark(chat)])],
    ['Id', chat.id],
  ]
  return facts.flatMap(([name, value]) => (value ? [{ name, value }] : []))
}

const deletedMark = ({ deletedInCursor }: Pick<Chat, 'deletedInCursor'>) => deletedInCursor && 'deleted in Cursor'

const roleName = ({ role }: Message): string => (role === 'user' ? 'User' : 'Assistant')

/** Model, tokens and special marks of a message. The time is not included. */
const messageMarks = (message: Message): string[] =>
  [
    message.model,
    message.tokens && tokensText(message.tokens),
    message.isSimulated && 'sent by Cursor',
    message.isOrphan && 'orphan',
    deletedMark(message),
  ].flatMap((mark) => mark || [])

/** An estimate is marked as one, because the file also contains counts from Cursor. It is of one side only. */
function tokensText({ input, output, source }: NonNullable<Message['tokens']>): string {
  if (source === 'estimated') return `${figure((input ?? 0) + (output ?? 0))} tokens, estimated`
  const out = input === null ? 'tokens out' : 'out'
  return joined(', ', [input !== null && `${figure(input)} tokens in`, output !== null && `${figure(output)} ${out}`])
}

/** A time that is not the message's own is marked with `about`. */
function messageTime({ createdAt, createdAtSource }: Message): string | null {
  const text = timeText(createdAt)
  const isGuess = createdAtSource === 'neighbour' || createdAtSource === 'chat' || createdAtSource === 'tracking'
  return text !== null && isGuess ? `about ${text}` : text
}

/** `2026-02-19 20:30:00 UTC`: does not depend on the machine's time zone or locale. */
function timeText(iso: string | null): string | null {
  return iso === null ? null : iso.replace('T', ' ').replace(/(\.\d+)?Z$/u, ' UTC')
}

/** Digits are grouped the same way on every machine. */
function figure(count: number): string {
  return count.toLocaleString('en-US')
}

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
function* writeHtml(...[chat, messages, stamp]: Parameters<FileWriter>): Generator<string> {
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
  if (part.kind === 'tool') return `${part.name} ${part.status} ${part.paths.join(', ')}`
  const name = part.kind.charAt(0).toUpperCase() + part.kind.slice(1)
  if (part.kind === 'plan') return `${name} ${part.title ?? ''}`
  if (part.kind !== 'attachment') return name
  return `${name} ${part.path}${part.cappedFrom === undefined ? '' : ` (its beginning, of ${part.cappedFrom} bytes)`}`
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

/**
 * Escapes text from a chat for any place in a page. Nothing in it is markup, nothing is invisible, and lone surrogates,
 * which no encoding can represent, are shown as JSON writes them.
 */
const htmlText = (text: string): string =>
  printable(text.replaceAll('\r\n', '\n'))
    .replace(/\p{Surrogate}/gu, (half) => JSON.stringify(half).slice(1, -1))
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)

export const exportFormats = ['markdown', 'json', 'jsonl', 'html'] as const
export type ExportFormat = (typeof exportFormats)[number]

interface FormatEntry {
  readonly contentType: string
  readonly extension: string
  /** Set if the usual policy for data would prevent the file from being shown. */
  readonly contentSecurityPolicy?: string
  readonly write: FileWriter
}

/** A document with the facts and then a heading for each message. Texts are unchanged. */
function* writeMarkdown(...[chat, messages, stamp]: Parameters<FileWriter>): Generator<string> {
  const lines = chatFacts(chat).map(({ name, value }) => `- ${name}: ${plain(value)}\n`)
  yield `# ${plain(chat.title)}\n\n${lines.join('')}`
  for (const message of messages) {
    const facts = [roleName(message), messageTime(message), ...messageMarks(message)]
    yield `\n## ${plain(joined(' · ', facts))}\n`
    for (const part of message.parts) yield `\n${partMarkdown(part)}`
  }
  const masked = maskedSentence(stamp)
  if (masked !== null) yield `\n---\n\n${masked}\n`
}

/** One object. Chat and messages are as in the API, each message on its own line. */
function* writeJson(...[chat, messages, stamp]: Parameters<FileWriter>): Generator<string> {
  const { version, exportedAt } = stamp
  yield `${JSON.stringify({ version, exportedAt }).slice(0, -1)},\n"chat":${JSON.stringify(chat)},\n"messages":[`
  let separator = '\n'
  for (const message of messages) {
    yield `${separator}${JSON.stringify(message)}`
    separator = ',\n'
  }
  yield stamp.masked === undefined ? '\n]}\n' : `\n],\n${JSON.stringify(maskedMembers(stamp)).slice(1)}\n`
}

/** A line for the chat, recognisable by its `kind`, then a line for each message as in the API. */
function* writeJsonl(...[chat, messages, stamp]: Parameters<FileWriter>): Generator<string> {
  const { version, exportedAt } = stamp
  yield `${JSON.stringify({ kind: 'chat', version, exportedAt, ...chat })}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
  if (stamp.masked !== undefined) yield `${JSON.stringify({ kind: 'masked', ...maskedMembers(stamp) })}\n`
}

/** A new format needs a writer and a line here. */
export const exporters: Readonly<Record<ExportFormat, FormatEntry>> = {
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md', write: writeMarkdown },
  json: { contentType: 'application/json', extension: 'json', write: writeJson },
  jsonl: { contentType: 'application/jsonl', extension: 'jsonl', write: writeJsonl },
  html: {
    contentType: 'text/html; charset=utf-8',
    extension: 'html',
    contentSecurityPolicy: HEADER_CSP,
    write: writeHtml,
  },
}
