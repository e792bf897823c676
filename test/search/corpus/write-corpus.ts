import { Chance, CursorHome } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'
import type { PlantedMessage, ToolCall } from '../scenes.ts'
import type { CorpusChat, CorpusMessage } from './make-corpus.ts'

type Row = Record<string, unknown>

/** Writes the chats into stores in Cursor's format. */
export function writeCorpus(home: CursorHome, chats: readonly CorpusChat[]): void {
  const store = home.global()
  store.db.transaction(() => {
    for (const chat of chats) {
      for (const each of chat.messages) store.message(chat.id, each.id, messageRow(each, chat.model))
      store.chat(chat.id, chatRow(chat))
    }
  })()
  for (const name of new Set(chats.map(({ project }) => project))) {
    const mine = chats.filter(({ project }) => project === name).map(({ id }) => id)
    home.workspace(new Chance(name).hex(32), { folder: `file:///home/ada/code/${encodeURIComponent(name)}` }, mine)
  }
  home.close()
}

/** Writes the chats into stores in Cursor's format, and indexes it with the real indexer. */
export async function indexCorpus(
  chats: readonly CorpusChat[],
): Promise<{ readonly indexer: Indexer; readonly remove: () => void }> {
  const home = new CursorHome()
  writeCorpus(home, chats)
  const indexer = new Indexer(home.userDir)
  await indexer.pass('keys')
  const remove = (): void => {
    indexer.remove()
    home.remove()
  }
  return { indexer, remove }
}

function chatRow({ title, mode, isArchived, model, messages }: CorpusChat): Row {
  const times = messages.map(({ atMs }) => atMs)
  return {
    name: title,
    createdAt: Math.min(...times),
    lastUpdatedAt: Math.max(...times),
    unifiedMode: mode,
    isArchived,
    modelConfig: { modelName: model },
    fullConversationHeadersOnly: messages.map(({ id, message }) => ({ bubbleId: id, type: typeOf(message) })),
  }
}

const typeOf = ({ role }: PlantedMessage): number => (role === 'assistant' ? 2 : 1)

/** `JSON.stringify` leaves out what is undefined. */
function messageRow({ id, atMs, message }: CorpusMessage, model: string): Row {
  const { text = '', thinking, code, tool, attached, error } = message
  return {
    type: typeOf(message),
    text,
    createdAt: new Date(atMs).toISOString(),
    modelInfo: { modelName: model },
    thinking: thinking && { text: thinking },
    codeBlocks: code && [{ content: code.text, languageId: code.language, uri: { path: code.path } }],
    toolFormerData: tool && toolData(tool, id),
    context: attached && { fileSelections: attached.map((path) => ({ uri: { fsPath: path } })) },
    errorDetails: error && { error: 'ERROR_PROVIDER', message: error },
  }
}

function toolData({ name, params, result, error }: ToolCall, id: string): Row {
  const given = JSON.stringify(params)
  const call = { name, toolCallId: `call-${id}`, params: given, rawArgs: given, result: JSON.stringify(result) }
  if (error === undefined) return { ...call, status: 'completed' }
  return { ...call, status: 'error', error: JSON.stringify({ clientVisibleErrorMessage: error }) }
}
