import { constants } from 'node:buffer'
import type { ChatId } from '../../../model/ids.ts'
import type { NameMessage } from '../../whole-store.ts'
import { decodeLines } from './decode-lines.ts'
import { decodeText } from './decode-text.ts'
import { arrangeSteps, type DecodedTranscript } from './transcript.ts'

/**
 * A transcript file's bytes, of either form. Total: any bytes become messages, nothing, or an issue. The form shows in
 * the first line that is not empty: files that end in `.txt` hold either.
 */
export function decodeTranscript(bytes: Buffer, chatId: ChatId, nameMessage: NameMessage): DecodedTranscript {
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    return { messages: [], outline: [], issue: 'too-large', hasOnlyControl: false }
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const steps = /^\s*\{/.test(text) ? decodeLines(text) : decodeText(text)
  return arrangeSteps(steps, chatId, nameMessage)
}
