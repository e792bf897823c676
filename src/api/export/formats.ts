import type { Chat } from '../../model/chat.ts'
import type { Message } from '../../model/message.ts'
import { HEADER_CSP } from './html-style.ts'
import { toHtml } from './html.ts'
import { toMarkdown } from './markdown.ts'
import type { ExportStamp } from './stamp.ts'
import { createHash } from 'node:crypto'

export const exportFormats = ['markdown', 'json', 'jsonl', 'html'] as const
export type ExportFormat = (typeof exportFormats)[number]

interface FormatEntry {
  readonly contentType: string
  readonly extension: string
  /** Where the usual policy for data would not let the file be shown. */
  readonly contentSecurityPolicy?: string
  /** Pure, and a stretch at a time: the text of a long chat need not be in memory at once. */
  readonly write: (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Iterable<string>
}

/** A new format is a pure function and its line here. */
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

/** One object; chat and messages as the API gives them, each message on a line of its own. */
export function* toJson(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  const head = [`"version":${JSON.stringify(version)}`, `"exportedAt":${JSON.stringify(exportedAt)}`]
  yield `{${head.join(',')},\n"chat":${JSON.stringify(chat)},\n"messages":[`
  let separator = '\n'
  for (const message of messages) {
    yield `${separator}${JSON.stringify(message)}`
    separator = ',\n'
  }
  yield stamp.masked === undefined ? '\n]}\n' : `\n],\n"masked":${JSON.stringify(stamp.masked())}}\n`
}

/** A line for the chat, told from the others by its `kind`, then a line for each message as the API gives it. */
export function* toJsonl(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  yield `${JSON.stringify({ kind: 'chat', version, exportedAt, ...chat })}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
  if (stamp.masked !== undefined) yield `${JSON.stringify({ kind: 'masked', masked: stamp.masked() })}\n`
}

const TITLE_LENGTH_MAX = 40

/** `Fix-the-login-1a2b3c4d.md`: of a title, which may hold anything, only what is safe in a header and on a disk. */
export function fileNameOf({ id, title }: Pick<Chat, 'id' | 'title'>, extension: string): string {
  const safe = title.replace(/[^A-Za-z0-9_-]+/gu, '-').replace(/^-+/u, '')
  const words = safe.slice(0, TITLE_LENGTH_MAX).replace(/-+$/u, '')
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 8)
  return `${words === '' ? 'chat' : words}-${hash}.${extension}`
}
