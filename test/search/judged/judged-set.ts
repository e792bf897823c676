import { readFileSync } from 'node:fs'
import type { Indexer } from '../../helpers/in-process.ts'
import type { CorpusChat } from '../corpus/make-corpus.ts'
import { indexCorpus } from '../corpus/write-corpus.ts'

export interface JudgedMessage {
  readonly role: 'user' | 'assistant'
  readonly text?: string
  readonly thinking?: string
  readonly tool?: { readonly name: string; readonly input: string; readonly output: string }
}

export interface JudgedChat {
  readonly id: string
  readonly title: string
  readonly project: string
  readonly messages: readonly JudgedMessage[]
}

/** `chat` is the wanted one. */
export type JudgedQuery = Readonly<Record<'chat' | 'kind' | 'q', string>>

const linesOf = (name: string): readonly unknown[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))

export const judgedChats = linesOf('chats.jsonl') as readonly JudgedChat[]
export const judgedQueries = linesOf('queries.jsonl') as readonly JudgedQuery[]
/** Lines of three or more words, as a user would copy them. No message of a generated chat has all words of one. */
export const copiedLines = linesOf('lines.jsonl') as Readonly<Record<'chat' | 'line', string>>[]

/** The readable pieces of a message. */
export const piecesOf = ({ text, thinking, tool }: JudgedMessage): readonly string[] =>
  [text, thinking, tool?.name, tool?.input, tool?.output].filter((piece) => piece !== undefined)

const FIRST_MS = Date.UTC(2025, 0, 1)
const DAY_MS = 86_400_000

/** Writes the chats in Cursor's format, in order of time, and indexes them with the real indexer. */
export async function indexChats(
  chats: readonly JudgedChat[],
): Promise<{ readonly indexer: Indexer; readonly remove: () => void }> {
  const setting = { project: 'judged', model: 'gpt-5', mode: 'agent', isArchived: false }
  const dated = chats.map(({ id, title, messages }, day): CorpusChat => {
    const atMs = FIRST_MS + (day * 500 * DAY_MS) / chats.length
    const written = messages.map(({ tool, ...message }, at) => {
      const call = tool && { name: tool.name, params: { command: tool.input }, result: { output: tool.output } }
      return {
        id: `${id}-${at}`,
        sceneId: null,
        atMs: atMs + at * 20_000,
        message: { ...message, ...(call && { tool: call }) },
      }
    })
    return { id, title, ...setting, messages: written }
  })
  return await indexCorpus(dated)
}
