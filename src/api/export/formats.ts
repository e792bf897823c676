import { partMarkdown, plain } from '../../shared/part.ts'
import { chatFacts, maskedSentence, messageMarks, messageTime, roleName, type FileWriter } from './facts.ts'
import { HEADER_CSP, htmlWriter } from './html.ts'

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
const markdownWriter: FileWriter = (chat, stamp) => ({
  head: `# ${plain(chat.title)}\n\n${chatFacts(chat)
    .map(({ name, value }) => `- ${name}: ${plain(value)}\n`)
    .join('')}`,
  *message(message) {
    const facts = [roleName(message), messageTime(message), ...messageMarks(message)]
    yield `\n## ${plain(facts.filter(Boolean).join(' · '))}\n`
    for (const part of message.parts) yield `\n${partMarkdown(part)}`
  },
  end() {
    const masked = maskedSentence(stamp)
    return masked === null ? '' : `\n---\n\n${masked}\n`
  },
})

/** One object. Chat and messages are as in the API, each message on its own line. */
const jsonWriter: FileWriter = (chat, stamp) => {
  const { version, exportedAt } = stamp
  const about = [`"version":${JSON.stringify(version)}`, `"exportedAt":${JSON.stringify(exportedAt)}`]
  let separator = '\n'
  return {
    head: `{${about.join(',')},\n"chat":${JSON.stringify(chat)},\n"messages":[`,
    *message(message) {
      yield `${separator}${JSON.stringify(message)}`
      separator = ',\n'
    },
    end() {
      if (stamp.masked === undefined) return '\n]}\n'
      const masked = `"masked":${JSON.stringify(stamp.masked())},"maskedNote":${JSON.stringify(maskedSentence(stamp))}`
      return `\n],\n${masked}}\n`
    },
  }
}

/** A line for the chat, recognisable by its `kind`, then a line for each message as in the API. */
const jsonlWriter: FileWriter = (chat, stamp) => {
  const { version, exportedAt } = stamp
  return {
    head: `${JSON.stringify({ kind: 'chat', version, exportedAt, ...chat })}\n`,
    *message(message) {
      yield `${JSON.stringify(message)}\n`
    },
    end() {
      if (stamp.masked === undefined) return ''
      return `${JSON.stringify({ kind: 'masked', masked: stamp.masked(), maskedNote: maskedSentence(stamp) })}\n`
    },
  }
}

/** A new format needs a writer and a line here. */
export const exporters: Readonly<Record<ExportFormat, FormatEntry>> = {
  markdown: { contentType: 'text/markdown; charset=utf-8', extension: 'md', write: markdownWriter },
  json: { contentType: 'application/json', extension: 'json', write: jsonWriter },
  jsonl: { contentType: 'application/jsonl', extension: 'jsonl', write: jsonlWriter },
  html: {
    contentType: 'text/html; charset=utf-8',
    extension: 'html',
    contentSecurityPolicy: HEADER_CSP,
    write: htmlWriter,
  },
}
