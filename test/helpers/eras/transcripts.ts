import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Role } from '../../../src/model/message.ts'
import { readJson } from '../cases.ts'
import { eraIn } from './workspace-items.ts'

export interface TranscriptMessage {
  readonly role: Role
  /** Its first text; null if it has only calls or errors. */
  readonly text: string | null
  readonly sentAtMs: number | null
  /** Names of its tool calls. */
  readonly tools: readonly string[]
}

/** A format in which Cursor stored a transcript, and the expected result. */
export interface TranscriptEra {
  readonly name: string
  /** Name of the project's folder in `projects`. */
  readonly slug: string
  /** Path relative to the folder of transcripts. */
  readonly file: string
  /** Null if the file contains no chat. */
  readonly chatId: string | null
  readonly parentChatId: string | null
  /** Normalised; null if nothing names it. */
  readonly rootUri: string | null
  readonly messages: readonly TranscriptMessage[]
  /** Writes it into one of Cursor's home folders, replacing a former one. */
  write(home: string): void
}

interface Left extends Partial<Omit<TranscriptEra, 'write'>> {
  readonly name: string
  readonly file: string
  readonly content: string
}

/** The root that the project's own file names. */
const trustedPath = '/yard/kiln'

const eraOf = ({ content, ...told }: Left): TranscriptEra => {
  const slug = told.slug ?? 'yard-kiln'
  const isTrusted = slug === 'yard-kiln'
  return {
    chatId: null,
    parentChatId: null,
    messages: [],
    slug,
    rootUri: isTrusted ? `file://${trustedPath}` : null,
    ...told,
    write: (home) => {
      writeTranscript(home, slug, told.file, content)
      if (isTrusted) trust(home, slug, trustedPath)
    },
  }
}

/** @param file path relative to the folder of transcripts */
export function writeTranscript(home: string, slug: string, file: string, content: string | Uint8Array): string {
  const path = join(home, 'projects', slug, 'agent-transcripts', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** Writes the file that names a project's root. */
export function trust(home: string, slug: string, workspacePath: string): void {
  mkdirSync(join(home, 'projects', slug), { recursive: true })
  const told = { trustedAt: '2026-06-02T03:20:00.000Z', workspacePath, trustMethod: 'user' }
  writeFileSync(join(home, 'projects', slug, '.workspace-trusted'), JSON.stringify(told))
}

export const lines = (...records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

export const line = (role: Role, ...content: readonly unknown[]) => ({ role, message: { content } })
export const said = (text: string) => ({ type: 'text', text })
export const call = (name: string, input: unknown) => ({ type: 'tool_use', name, input })
export const query = (text: string): string => `<user_query>\n${text}\n</user_query>`

interface Written extends Partial<Omit<Left, 'content' | 'messages'>> {
  readonly name: string
  readonly file: string
  /** By line. */
  readonly content: readonly string[]
  readonly messages?: readonly Partial<TranscriptMessage>[]
}

export const transcriptEras = (readJson(import.meta.url, 'transcripts.json') as Written[]).map(
  ({ content, messages = [], ...told }) =>
    eraOf({
      ...told,
      content: content.join('\n'),
      messages: messages.map((message) => ({ role: 'user', text: null, sentAtMs: null, tools: [], ...message })),
    }),
)

export const eraFlat = eraIn(transcriptEras, 'JSON lines beside the old form, by the command line')

/** Writes a long output to a file beside the transcripts, as Cursor does. @returns the file's path */
export function writeOutput(home: string, slug: string, name: string, text: string | Uint8Array): string {
  const folder = join(home, 'projects', slug, 'agent-tools')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Writes a plan's file as Cursor does. @param todos their states, by content */
export function writePlan(
  home: string,
  file: string,
  name: string,
  body: string,
  todos: Record<string, string> = {},
): void {
  const listed = Object.entries(todos).map(
    ([content, status], at) => `  - id: t${at}\n    content: ${content}\n    status: ${status}\n`,
  )
  const matter = `name: ${name}\noverview: What to do first\ntodos:${listed.length === 0 ? ' []' : ''}\n${listed.join('')}isProject: false\n`
  mkdirSync(join(home, 'plans'), { recursive: true })
  writeFileSync(join(home, 'plans', file), `---\n${matter}---\n\n${body}\n`)
}
