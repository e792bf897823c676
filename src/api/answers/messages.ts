import * as z from 'zod/mini'
import type { Json } from '../../model/json.ts'
import { roles } from '../../model/message.ts'
import { toolStatuses } from '../../model/part.ts'
import * as s from './common.ts'

const json = z.unknown() as unknown as z.ZodMiniType<Json, Json>

/** As in the model, whose types the mirror needs too. The compiler compares the two wherever a message is read. */
const part = s.named(
  'Part',
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: s.text() }),
    z.object({ kind: z.literal('thinking'), text: s.text(), durationMs: s.maybeAmount() }),
    z.object({ kind: z.literal('code'), language: s.maybeText(), path: s.maybeText(), text: s.text() }),
    z.object({
      kind: z.literal('tool'),
      name: s.text(),
      status: z.enum(toolStatuses),
      callId: s.maybeText(),
      input: s.says(json, 'Parsed if it is valid JSON, else the original string.'),
      output: s.says(json, 'Parsed if it is valid JSON, else the original string.'),
      outputFrom: s.says(
        z.exactOptional(z.literal('blob')),
        "The message's own row lacks the output; it was found in the data sent to the model.",
      ),
      error: s.maybeText(),
      paths: s.texts('Files and folders that the call names, in its own spelling.'),
    }),
    z.object({
      kind: z.literal('attachment'),
      path: s.text(),
      text: s.maybeText(),
      hash: s.says(
        z.exactOptional(s.text()),
        "SHA-256 under which Cursor stores the text, if it is not in the message's row.",
      ),
      cappedFrom: s.says(z.exactOptional(s.amount()), 'Bytes of the whole text, if text is only its beginning.'),
      mime: s.says(z.exactOptional(s.text()), 'The type of an attached image, by the name of its file.'),
      bytes: s.says(
        z.exactOptional(s.maybeAmount()),
        'The size of its file; null if it is not there, or larger than 20 MB.',
      ),
      exists: s.says(z.exactOptional(s.boolean()), 'Whether its file is there now.'),
      href: s.says(
        z.exactOptional(s.text()),
        'The path below this server that answers with the image, if it is there.',
      ),
    }),
    z.object({
      kind: z.literal('todo'),
      items: z.array(z.object({ id: s.maybeText(), content: s.text(), status: s.maybeText() })),
    }),
    z.object({ kind: z.literal('error'), text: s.text() }),
    z.object({ kind: z.literal('plan'), title: s.maybeText(), path: s.maybeText(), text: s.text() }),
    z.object({ kind: z.literal('summary'), text: s.text() }),
  ]),
)

export const message = s.named(
  'Message',
  z.object({
    id: s.says(s.messageId, 'Unique only within its chat.'),
    chatId: s.chatId,
    position: s.maybeCount("Index in Cursor's own order, possibly with gaps. Null for an orphan."),
    role: z.enum(roles),
    createdAt: s.maybeTime(),
    createdAtSource: s.says(
      z.nullable(z.enum(['message', 'header', 'timing', 'neighbour', 'chat', 'tracking'])),
      'Where the time comes from, the best first.',
    ),
    model: s.maybeText(),
    tokens: s.says(
      z.nullable(
        z.object({ input: s.maybeAmount(), output: s.maybeAmount(), source: z.enum(['recorded', 'estimated']) }),
      ),
      'A count is null if Cursor recorded only the other one.',
    ),
    parts: z.array(part),
    isOrphan: s.boolean('True if the chat no longer names the message.'),
    isSimulated: s.boolean("True if Cursor sent it in the user's name."),
    deletedInCursor: s.boolean(),
    isIndexCapped: s.boolean(
      "True if some text was too long to be indexed completely: a tool's input or output, or all parts of one kind.",
    ),
    source: s.text("The kind of store from which the message was read. It may differ from its chat's."),
  }),
)
export type Message = s.Answer<typeof message>

export type Tokens = NonNullable<Message['tokens']>

export const messagesAnswer = z.extend(s.pageOf(message), {
  nextOffset: s.maybeCount(
    'Where the next messages begin: an answer has at most 8 MB, so it may have fewer than limit. Null after the last one.',
  ),
})
export type MessagePage = s.Answer<typeof messagesAnswer>
