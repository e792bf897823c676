import { HEADER_CSP } from './html-style.ts'
import { toHtml } from './html.ts'
import { toMarkdown } from './markdown.ts'
import { maskedSentence, type ExportStamp } from './stamp.ts'
import { createHash } from 'node:crypto'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

export const exportFormats = ['markdown', 'json', 'jsonl', 'html'] as const
export type ExportFormat = (typeof exportFormats)[number]

interface FormatEntry {
  readonly contentType: string
  readonly extension: string
  /** Set if the usual policy for data would prevent the file from being shown. */
  readonly contentSecurityPolicy?: string
  /** A pure function that returns the text in pieces, so that a long chat is not in memory at once. */
  readonly write: (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Iterable<string>
}

/** A new format needs a pure function and a line here. */
export const exporters: Readonly<Record<ExportFormat, FormatEntry>> = {
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md', write: toMarkdown },
  json: { contentType: 'application/json', extension: 'json', write: toJson },
  jsonl: { contentType: 'application/jsonl', extension: 'jsonl', write: toJsonl },
  html: {
    contentType: 'text/html; charset=utf-8',
    extension: 'html',
    contentSecurityPolicy: HEADER_CSP,
    write: toHtml,
  },
}

/** One object. Chat and messages are as in the API, each message on its own line. */
export function* toJson(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  const head = [`"version":${JSON.stringify(version)}`, `"exportedAt":${JSON.stringify(exportedAt)}`]
  yield `{${head.join(',')},\n"chat":${JSON.stringify(chat)},\n"messages":[`
  let separator = '\n'
  for (const message of messages) {
    yield `${separator}${JSON.stringify(message)}`
    separator = ',\n'
  }
  if (stamp.masked === undefined) yield '\n]}\n'
  else yield `\n],\n"masked":${JSON.stringify(stamp.masked())},"maskedNote":${JSON.stringify(maskedSentence(stamp))}}\n`
}

/** A line for the chat, recognisable by its `kind`, then a line for each message as in the API. */
export function* toJsonl(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  yield `${JSON.stringify({ kind: 'chat', version, exportedAt, ...chat })}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
  if (stamp.masked === undefined) return
  yield `${JSON.stringify({ kind: 'masked', masked: stamp.masked(), maskedNote: maskedSentence(stamp) })}\n`
}

const TITLE_LENGTH_MAX = 40

/** `Fix-the-login-1a2b3c4d.md`. Keeps only the characters of the title that are safe in a header and in a file name. */
export function fileNameOf({ id, title }: Pick<Chat, 'id' | 'title'>, extension: string): string {
  const safe = title.replace(/[^A-Za-z0-9_-]+/gu, '-').replace(/^-+/u, '')
  const words = safe.slice(0, TITLE_LENGTH_MAX).replace(/-+$/u, '')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${words === '' ? 'chat' : words}-${hash}.${extension}`
}
