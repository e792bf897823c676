import { readFileSync } from 'node:fs'
import { CursorHome } from '../../../src/sample/cursor-home.ts'
import { Indexer } from '../../helpers/in-process.ts'

/** The four kinds of queries. See README.md. */
export const queryKinds = ['question', 'keywords', 'agent', 'vague'] as const
export type QueryKind = (typeof queryKinds)[number]

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

export interface JudgedQuery {
  /** The wanted chat. */
  readonly chat: string
  readonly kind: QueryKind
  readonly q: string
}

const linesOf = (name: string): readonly unknown[] =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))

export const judgedChats = linesOf('chats.jsonl') as readonly JudgedChat[]
export const judgedQueries = linesOf('queries.jsonl') as readonly JudgedQuery[]

/** Weights are chosen on one half and reported on the other. Four consecutive chats, with all kinds of queries, are in one half. */
export const isTuning = ({ chat }: JudgedQuery): boolean => Math.floor((Number(chat.slice(1)) - 1) / 4) % 2 === 0

/** The readable pieces of a message. */
export const piecesOf = ({ text, thinking, tool }: JudgedMessage): readonly string[] =>
  [text, thinking, tool?.name, tool?.input, tool?.output].filter((piece) => piece !== undefined)

const FIRST_MS = Date.UTC(2025, 0, 1)
const DAY_MS = 86_400_000

/** Writes the chats in Cursor's format, in order of time, and indexes them with the real indexer. */
export function indexChats(chats: readonly JudgedChat[]): { readonly indexer: Indexer; readonly remove: () => void } {
  const home = new CursorHome()
  writeChats(home, chats)
  const indexer = new Indexer(home.userDir)
  indexer.pass('reconcile')
  const remove = (): void => {
    indexer.remove()
    home.remove()
  }
  return { indexer, remove }
}

function writeChats(home: CursorHome, chats: readonly JudgedChat[]): void {
  const store = home.global()
  store.db.transaction(() => {
    for (const [day, { id, title, messages }] of chats.entries()) {
      const atMs = FIRST_MS + (day * 500 * DAY_MS) / chats.length
      const ids = messages.map((_, at) => `${id}-${at}`)
      for (const [at, message] of messages.entries()) {
        store.message(id, `${id}-${at}`, rowOf(message, `${id}-${at}`, atMs + at * 20_000))
      }
      store.chat(id, {
        name: title,
        createdAt: atMs,
        lastUpdatedAt: atMs + messages.length * 20_000,
        fullConversationHeadersOnly: ids.map((bubbleId, at) => ({ bubbleId, type: typeOf(messages[at]) })),
      })
    }
  })()
  home.close()
}

const typeOf = (message: JudgedMessage | undefined): number => (message?.role === 'user' ? 1 : 2)

function rowOf(message: JudgedMessage, id: string, atMs: number): Record<string, unknown> {
  const { text = '', thinking, tool } = message
  return {
    type: typeOf(message),
    text,
    createdAt: new Date(atMs).toISOString(),
    ...(thinking === undefined ? {} : { thinking: { text: thinking } }),
    ...(tool === undefined ? {} : { toolFormerData: toolData(tool, id) }),
  }
}

function toolData({ name, input, output }: NonNullable<JudgedMessage['tool']>, id: string): object {
  const params = JSON.stringify({ command: input })
  const result = JSON.stringify({ output })
  return { name, toolCallId: `call-${id}`, params, rawArgs: params, result, status: 'completed' }
}
