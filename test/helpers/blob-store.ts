import { hash as digest } from 'node:crypto'
import type { Store } from './cursor.ts'

/** Stores a message as sent to the model. @returns its hash */
export function keepBlob(store: Store, message: unknown, form: 'blob' | 'hex' = 'blob'): string {
  const bytes = Buffer.isBuffer(message) ? message : Buffer.from(JSON.stringify(message))
  const id = digest('sha256', bytes)
  store.put(`agentKv:blob:${id}`, form === 'blob' ? bytes : bytes.toString('hex'))
  return id
}

/** A state that names these blobs, encoded as a protobuf message. */
export const stateOf = (ids: readonly string[], field = 1): Buffer =>
  Buffer.concat(ids.map((id) => Buffer.concat([Buffer.from([field * 8 + 2, 32]), Buffer.from(id, 'hex')])))

export const asBase64 = (state: Buffer): string => `~${state.toString('base64')}`

export const toolResult = (toolCallId: string, result: unknown, toolName = 'Read'): unknown => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId, toolName, result }],
})

export const toolCall = (toolCallId: string, args: unknown, toolName = 'Read'): unknown => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId, toolName, args }],
})

/** A call whose row contains a count instead of the read content. */
export const stub = (toolCallId: string, targetFile = '/p/a.ts'): Record<string, unknown> => ({
  type: 2,
  text: '',
  toolFormerData: {
    tool: 40,
    name: 'read_file_v2',
    toolCallId,
    status: 'completed',
    params: JSON.stringify({ targetFile }),
    result: JSON.stringify({ totalLinesInFile: 12 }),
  },
})
