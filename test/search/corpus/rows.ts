import type { CorpusChat, CorpusMessage } from './make-corpus.ts'
import type { PlantedMessage } from './planted.ts'

type Row = Record<string, unknown>

/** A chat as Cursor writes it. */
export function chatRow(chat: CorpusChat): Row {
  const { title, mode, isArchived, model, messages } = chat
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

/** A message as Cursor writes it. */
export function messageRow({ id, atMs, message }: CorpusMessage, model: string): Row {
  const { text = '', thinking, code, tool, attached, error } = message
  return {
    type: typeOf(message),
    text,
    createdAt: new Date(atMs).toISOString(),
    modelInfo: { modelName: model },
    ...(thinking === undefined ? {} : { thinking: { text: thinking } }),
    ...(code === undefined ? {} : { codeBlocks: [codeBlock(code)] }),
    ...(tool === undefined ? {} : { toolFormerData: toolData(tool, id) }),
    ...(attached === undefined
      ? {}
      : { context: { fileSelections: attached.map((path) => ({ uri: { fsPath: path } })) } }),
    ...(error === undefined ? {} : { errorDetails: { error: 'ERROR_PROVIDER', message: error } }),
  }
}

function codeBlock({ language, path, text }: NonNullable<PlantedMessage['code']>): Row {
  return { content: text, languageId: language, ...(path === undefined ? {} : { uri: { path } }) }
}

function toolData({ name, params, result, error }: NonNullable<PlantedMessage['tool']>, id: string): Row {
  const given = JSON.stringify(params)
  const call = { name, toolCallId: `call-${id}`, params: given, rawArgs: given, result: JSON.stringify(result) }
  if (error === undefined) return { ...call, status: 'completed' }
  return { ...call, status: 'error', error: JSON.stringify({ clientVisibleErrorMessage: error }) }
}
