import type { ExportStamp } from '../stamp.ts'
import { Masking } from './masking.ts'
import type { Chat } from '../../answers/chats.ts'
import type { Message } from '../../answers/messages.ts'

type Write = (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Iterable<string>

export interface Redacted {
  /** The chat with its secrets masked: its title is part of the file's name. */
  readonly chat: Chat
  /** An empty piece is a pause, in which the caller can do other work. */
  readonly text: Iterable<string>
}

/** A chat as a file. Secrets are masked before the text is formatted, whatever the format. */
export function redacted(write: Write, chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Redacted {
  const masking = new Masking()
  const masked = masking.maskAtOnce(chat)
  return {
    chat: masked,
    text: writeRedacted(write, masked, messages, { ...stamp, masked: () => masking.counts }, masking),
  }
}

function* writeRedacted(
  write: Write,
  chat: Chat,
  messages: Iterable<Message>,
  stamp: ExportStamp,
  masking: Masking,
): Generator<string> {
  const source = messages[Symbol.iterator]()
  // A writer takes at most one message between two pieces, so one masked message is kept ready.
  const ready: Message[] = []
  const take = function* (): Generator<Message> {
    for (let message = ready.shift(); message !== undefined; message = ready.shift()) yield message
  }
  const pieces = write(chat, take(), stamp)[Symbol.iterator]()
  for (let isOver = false; ;) {
    if (ready.length === 0 && !isOver) {
      const next = source.next()
      if (next.done === true) isOver = true
      else {
        const steps = masking.mask(next.value)
        for (let step = steps.next(); ; step = steps.next()) {
          if (step.done === true) {
            ready.push(step.value)
            break
          }
          yield ''
        }
      }
    }
    const piece = pieces.next()
    if (piece.done === true) return
    yield piece.value
  }
}
