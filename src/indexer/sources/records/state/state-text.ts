import type { JsonRecord } from '../json/json-value.ts'

/** Before the state's bytes, in base64 or as hex; alone it is an empty state. */
const MARK = '~'

/** The state of a chat's thread as the model saw it, still encoded; null where the row holds none. */
export function readStateText(chat: JsonRecord): string | null {
  const state = chat['conversationState']
  if (typeof state !== 'string') return null
  const text = state.startsWith(MARK) ? state.slice(MARK.length) : state
  return text === '' ? null : text
}

/** The bytes of a state; null where the text is neither base64 nor hex. */
export function decodeStateText(text: string): Buffer | null {
  if (text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : null
}
