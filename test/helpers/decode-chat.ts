import { readChat, type Decoded } from '../../src/archive/chat-file.ts'
import type { ArchivedChat, ArchivedMessage } from '../../src/archive/record.ts'

interface DecodedChat {
  readonly chat: ArchivedChat
  readonly messages: readonly ArchivedMessage[]
}

/** A whole chat out of an object's text. */
export function decodeChat(text: string): Decoded<DecodedChat> {
  const messages: ArchivedMessage[] = []
  const read = readChat(text, (message) => {
    messages.push(message)
  })
  return read.kind === 'damaged' ? read : { kind: 'sound', value: { chat: read.value, messages } }
}
