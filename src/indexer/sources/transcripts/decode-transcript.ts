import { constants } from 'node:buffer'
import type { ChatId } from '../../../model/ids.ts'
import type { NameMessage } from '../../open-safely/whole-store.ts'
import { decodeLines } from './decode-lines.ts'
import { decodeRecords } from './decode-records.ts'
import { decodeText } from './decode-text.ts'
import { arrangeSteps, type DecodedTranscript, type Steps } from './transcript.ts'

/**
 * Decodes a transcript file of any format. Total: any bytes become messages, nothing, or an issue. The format is
 * recognised by the first character and not by the name: files that end in `.txt` can contain JSON Lines.
 */
export function decodeTranscript(bytes: Buffer, chatId: ChatId, nameMessage: NameMessage): DecodedTranscript {
  if (bytes.length > constants.MAX_STRING_LENGTH) {
    return { messages: [], outline: [], issue: 'too-large', hasOnlyControl: false }
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  return arrangeSteps(decode(text), chatId, nameMessage)
}

function decode(text: string): Steps {
  if (/^\s*\{/.test(text)) return decodeLines(text)
  if (!/^\s*\[/.test(text)) return decodeText(text)
  const records = decodeRecords(text)
  const decoded = records ?? decodeText(text)
  return records === null && decoded.steps.length === 0 ? { steps: [], issue: 'bad-json' } : decoded
}
