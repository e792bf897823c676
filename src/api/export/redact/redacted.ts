import type { Chat } from '../../../model/chat.ts'
import type { Message } from '../../../model/message.ts'
import type { ExportStamp } from '../stamp.ts'
import { Masking } from './masking.ts'

type Write = (chat: Chat, messages: Iterable<Message>, stamp: ExportStamp) => Iterable<string>

export interface Redacted {
  /** The chat with its own secrets masked: its title is part of the file's name. */
  readonly chat: Chat
  /** An empty stretch is a moment in which others may have their turn. */
  readonly text: AsyncIterable<string>
}

/** A chat as a file in which secrets are masked before anything is made of them, whatever the format. */
export async function redacted(
  write: Write,
  chat: Chat,
  messages: Iterable<Message>,
  stamp: ExportStamp,
): Promise<Redacted> {
  const masking = new Masking()
  const masked = await runToCompletion(masking.mask(chat))
  return {
    chat: masked,
    text: writeRedacted(write, masked, messages, { ...stamp, masked: () => masking.counts }, masking),
  }
}

async function* writeRedacted(
  write: Write,
  chat: Chat,
  messages: Iterable<Message>,
  stamp: ExportStamp,
  masking: Masking,
): AsyncGenerator<string> {
  const source = messages[Symbol.iterator]()
  // A writer takes one message at most between two of its stretches: so one is kept ready.
  const waiting: Message[] = []
  const take = function* (): Generator<Message> {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) yield message
  }
  const stretches = write(chat, take(), stamp)[Symbol.iterator]()
  for (let isOver = false; ;) {
    if (waiting.length === 0 && !isOver) {
      const next = source.next()
      if (next.done === true) isOver = true
      else {
        const steps = masking.mask(next.value)
        for (let step = await steps.next(); ; step = await steps.next()) {
          if (step.done === true) {
            waiting.push(step.value)
            break
          }
          yield ''
        }
      }
    }
    const stretch = stretches.next()
    if (stretch.done === true) return
    yield stretch.value
  }
}

async function runToCompletion<Value>(steps: AsyncGenerator<void, Value>): Promise<Value> {
  for (;;) {
    const step = await steps.next()
    if (step.done === true) return step.value
  }
}
