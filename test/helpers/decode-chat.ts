import { readChat, type Decoded } from '../../src/archive/chat-file.ts'
import type { ArchivedChat, ArchivedMessage } from '../../src/archive/record.ts'

interface DecodedChat {
  readonly chat: ArchivedChat
  readonly messages: readonly ArchivedMessage[]
}

/** Decodes a whole chat from the text of an object. */
export function decodeChat(text: string): Decoded<DecodedChat> {
  const messages: ArchivedMessage[] = []
  const read = readChat(text, (message) => {
    messages.push(message)
  })
  return read.kind === 'damaged' ? read : { kind: 'sound', value: { chat: read.value, messages } }
}
