import * as z from 'zod/mini'
import { chatFormats, titleSources } from '../../model/chat.ts'
import { confidences } from '../../model/commit.ts'
import {
  amount,
  chatId,
  count,
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
import { maybeMachine } from './machines.ts'
import { projectRef } from './projects.ts'
import { estimated, recorded } from './tokens.ts'

export const chat = named(
  'Chat',
  z.object({
    id: says(chatId, "Cursor's own id. It may contain any character."),
    title: says(text, 'Never empty: Cursor’s name, else the user’s first words, else “Untitled chat”.'),
    titleSource: z.enum(titleSources),
    summary: maybeText,
    project: z.nullable(projectRef),
    projectSource: maybeText,
    worktree: says(
      z.nullable(z.object({ name: text, path: text })),
      'The working tree of git in which it ran. Its project is then the repository.',
    ),
    createdAt: maybeTime,
    lastActivityAt: maybeTime,
    mode: maybeText,
    branch: says(maybeText, 'The git branch on which the chat began.'),
    model: maybeText,
    models: texts,
    modelSource: says(
      z.nullable(z.enum(['cursor', 'tracking'])),
      "Origin of the models: the chat's own rows, or Cursor's record of generated code.",
    ),
    messageCount: says(count, 'The counts cover the thread, without orphans.'),
    userMessageCount: count,
    toolCallCount: count,
    sizeBytes: count,
    format: z.enum(chatFormats),
    source: text,
    origin: says(
      maybeText,
      "The mirror from whose archive it was restored; null if it comes from a store of Cursor's.",
    ),
    status: maybeText,
    isArchived: boolean,
    isSubagent: boolean,
    parentChatId: z.nullable(chatId),
    childChatIds: z.array(chatId),
    deletedInCursor: boolean,
    deletedAt: maybeTime,
    linesAdded: maybeCount,
    linesRemoved: maybeCount,
    filesChanged: maybeCount,
    contextTokens: z.nullable(
      z.object({
        used: maybeAmount,
        limit: maybeAmount,
        items: says(
          z.array(z.object({ name: text, tokens: amount })),
          'What fills it, as Cursor names and estimates it.',
        ),
      }),
    ),
    recordedCostCents: maybeAmount,
    running: says(boolean, 'Whether Cursor is at work on it: it says so, or wrote a message in the last two minutes.'),
    machine: maybeMachine,
  }),
)
export type Chat = Answer<typeof chat>

const chatFile = z.object({
  path: text,
  reads: says(count, 'How many calls read the file.'),
  edits: says(count, 'How many calls edited it.'),
  attached: says(count, 'How often it was attached.'),
})
export type ChatFile = Answer<typeof chatFile>

const toolCount = z.object({
  name: text,
  calls: says(count, 'All calls, in any state.'),
  errors: count,
  rejected: count,
})
export type ToolCount = Answer<typeof toolCount>

const chatRef = z.object({
  id: chatId,
  title: text,
  mode: maybeText,
  createdAt: maybeTime,
  lastActivityAt: maybeTime,
  messageCount: count,
  isSubagent: boolean,
  deletedInCursor: boolean,
})
export type ChatRef = Answer<typeof chatRef>

export const chatAnswer = z.extend(chat, {
  files: z.array(chatFile),
  toolCounts: z.array(toolCount),
  tokens: says(
    z.object({ recorded: z.nullable(recorded), estimated: z.nullable(estimated) }),
    'Sums over the messages of the thread, by source. They are never added to each other. Null means unknown.',
  ),
  children: says(z.array(chatRef), 'Those of childChatIds that are in the mirror.'),
  alternatives: says(z.array(chatRef), 'Chats in which Cursor ran the same prompt beside this one (best of N).'),
})
export type ChatTokens = ChatDetail['tokens']
export type ChatDetail = Answer<typeof chatAnswer>

/** Why a chat may have led to a commit. */
export const evidence = named(
  'Evidence',
  z.object({
    time: says(
      z.nullable(z.object({ messages: count, from: maybeTime, to: maybeTime })),
      "Messages within the commit's window: up to 30 minutes before it, and after its parent.",
    ),
    files: says(
      z.nullable(z.object({ paths: texts, lastEditAt: maybeTime })),
      'Files of the commit that the chat edited.',
    ),
    tracking: says(
      z.nullable(z.object({ from: maybeTime, to: maybeTime })),
      'When Cursor recorded code of the chat within the window of the commit, which Cursor scored.',
    ),
  }),
)

/** What `commit` adds to each chat of the list. */
const commitOfChat = z.object({ confidence: z.enum(confidences), evidence })

export const chatsAnswer = z.extend(
  pageOf(z.extend(chat, { commit: says(z.exactOptional(commitOfChat), 'With commit: why the chat matches it.') })),
  { undated: says(z.exactOptional(count), 'With from or to: chats that were left out because they have no time.') },
)

const listedLoss = z.object({
  at: says(maybeTime, 'When it was noticed.'),
  kind: z.enum(['message', 'chat']),
  chatId,
  messageId: says(z.nullable(messageId), 'Null for a chat.'),
  project: z.nullable(projectRef),
  title: says(text, 'Title of the chat.'),
  text: says(maybeText, 'The first words of the message, at most 300 characters; null for a chat.'),
})
export type ListedLoss = Answer<typeof listedLoss>

export const lossesAnswer = pageOf(listedLoss)

/** Losses in total. */
export const lossCounts = z.object({
  messages: count,
  chats: says(count, 'Chats that were deleted as a whole.'),
  lastAt: maybeTime,
})
export type LossCounts = Answer<typeof lossCounts>
