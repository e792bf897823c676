import * as z from 'zod/mini'
import type { Json } from '../../model/json.ts'
import { roles } from '../../model/message.ts'
import { toolStatuses } from '../../model/part.ts'
import {
  amount,
  chatId,
  maybeAmount,
  maybeCount,
  maybeText,
  maybeTime,
  messageId,
  named,
  pageOf,
  says,
  text,
  texts,
  boolean,
  type Answer,
} from './common.ts'

const json = z.unknown() as unknown as z.ZodMiniType<Json, Json>

/** As in the model, whose types the mirror needs too. The compiler compares the two wherever a message is read. */
const part = named(
  'Part',
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text }),
    z.object({ kind: z.literal('thinking'), text, durationMs: maybeAmount }),
    z.object({ kind: z.literal('code'), language: maybeText, path: maybeText, text }),
    z.object({
      kind: z.literal('tool'),
      name: text,
      status: z.enum(toolStatuses),
      callId: maybeText,
      input: says(json, 'Parsed if it is valid JSON, else the original string.'),
      output: says(json, 'Parsed if it is valid JSON, else the original string.'),
      outputFrom: says(
        z.exactOptional(z.literal('blob')),
        "The message's own row lacks the output; it was found in the data sent to the model.",
      ),
      error: maybeText,
      paths: says(texts, 'Files and folders that the call names, in its own spelling.'),
    }),
    z.object({
      kind: z.literal('attachment'),
      path: text,
      text: maybeText,
      hash: says(
        z.exactOptional(text),
        "SHA-256 under which Cursor stores the text, if it is not in the message's row.",
      ),
      cappedFrom: says(z.exactOptional(amount), 'Bytes of the whole text, if text is only its beginning.'),
      mime: says(z.exactOptional(text), 'The type of an attached image, by the name of its file.'),
      bytes: says(z.exactOptional(maybeAmount), 'The size of its file; null if it is not there, or larger than 20 MB.'),
      exists: says(z.exactOptional(boolean), 'Whether its file is there now.'),
      href: says(z.exactOptional(text), 'The path below this server that answers with the image, if it is there.'),
    }),
    z.object({
      kind: z.literal('todo'),
      items: z.array(z.object({ id: maybeText, content: text, status: maybeText })),
    }),
    z.object({ kind: z.literal('error'), text }),
    z.object({ kind: z.literal('plan'), title: maybeText, path: maybeText, text }),
    z.object({ kind: z.literal('summary'), text }),
  ]),
)

export const message = named(
  'Message',
  z.object({
    id: says(messageId, 'Unique only within its chat.'),
    chatId,
    position: says(maybeCount, "Index in Cursor's own order, possibly with gaps. Null for an orphan."),
    role: z.enum(roles),
    createdAt: maybeTime,
    createdAtSource: says(
      z.nullable(z.enum(['message', 'header', 'timing', 'neighbour', 'chat', 'tracking'])),
      'Where the time comes from, the best first.',
    ),
    model: maybeText,
    tokens: says(
      z.nullable(z.object({ input: maybeAmount, output: maybeAmount, source: z.enum(['recorded', 'estimated']) })),
      'A count is null if Cursor recorded only the other one.',
    ),
    parts: z.array(part),
    isOrphan: says(boolean, 'True if the chat no longer names the message.'),
    isSimulated: says(boolean, "True if Cursor sent it in the user's name."),
    deletedInCursor: boolean,
    isIndexCapped: says(
      boolean,
      "True if some text was too long to be indexed completely: a tool's input or output, or all parts of one kind.",
    ),
    source: says(text, "The kind of store from which the message was read. It may differ from its chat's."),
  }),
)
export type Message = Answer<typeof message>

export type Tokens = NonNullable<Message['tokens']>

export const messagesAnswer = z.extend(pageOf(message), {
  nextOffset: says(
    maybeCount,
    'Where the next messages begin: an answer has at most 8 MB, so it may have fewer than limit. Null after the last one.',
  ),
})
export type MessagePage = Answer<typeof messagesAnswer>
