import type { Chat } from '../../model/chat.ts'
import type { Message } from '../../model/message.ts'
import { HEADER_CSP } from './html-style.ts'
import { toHtml } from './html.ts'
import { toJson } from './json.ts'
import { toJsonl } from './jsonl.ts'
import { toMarkdown } from './markdown.ts'
import type { ExportStamp } from './stamp.ts'

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
