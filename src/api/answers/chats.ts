import * as z from 'zod/mini'
import * as s from './common.ts'
import { chatFormats, titleSources } from '../../model/chat.ts'
import { confidences } from '../../model/commit.ts'
import { maybeMachine, projectRef } from './projects.ts'
import { estimated, recorded } from './tokens.ts'

export const chat = s.named(
  'Chat',
  z.object({
    id: s.says(s.chatId, "Cursor's own id. It may contain any character."),
    title: s.text('Never empty: Cursor’s name, else the user’s first words, else “Untitled chat”.'),
    titleSource: z.enum(titleSources),
    summary: s.maybeText(),
    project: z.nullable(projectRef),
    projectSource: s.maybeText(),
    worktree: s.says(
      z.nullable(z.object({ name: s.text(), path: s.text() })),
      'The working tree of git in which it ran. Its project is then the repository.',
    ),
    createdAt: s.maybeTime(),
    lastActivityAt: s.maybeTime(),
    mode: s.maybeText(),
    branch: s.maybeText('The git branch on which the chat began.'),
    model: s.maybeText(),
    models: s.texts(),
    modelSource: s.says(
      z.nullable(z.enum(['cursor', 'tracking'])),
      "Origin of the models: the chat's own rows, or Cursor's record of generated code.",
    ),
    messageCount: s.count('The counts cover the thread, without orphans.'),
    userMessageCount: s.count(),
    toolCallCount: s.count(),
    sizeBytes: s.count(),
    format: z.enum(chatFormats),
    source: s.text(),
    origin: s.maybeText("The mirror from whose archive it was restored; null if it comes from a store of Cursor's."),
    status: s.maybeText(),
    isArchived: s.boolean(),
    isSubagent: s.boolean(),
    parentChatId: z.nullable(s.chatId),
    childChatIds: z.array(s.chatId),
    deletedInCursor: s.boolean(),
    deletedAt: s.maybeTime(),
    linesAdded: s.maybeCount(),
    linesRemoved: s.maybeCount(),
    filesChanged: s.maybeCount(),
    contextTokens: z.nullable(
      z.object({
        used: s.maybeAmount(),
        limit: s.maybeAmount(),
        items: s.says(
          z.array(z.object({ name: s.text(), tokens: s.amount() })),
          'What fills it, as Cursor names and estimates it.',
        ),
      }),
    ),
    recordedCostCents: s.maybeAmount(),
    isListedOnly: s.boolean(
      "True if only a list of Cursor's names it: nothing that was said in it is on this machine.",
    ),
    running: s.boolean('Whether Cursor is at work on it: it says so, or wrote a message in the last two minutes.'),
    machine: maybeMachine,
  }),
)
export type Chat = s.Answer<typeof chat>

const chatFile = z.object({
  path: s.text(),
  reads: s.count('How many calls read the file.'),
  edits: s.count('How many calls edited it.'),
  attached: s.count('How often it was attached.'),
})
export type ChatFile = s.Answer<typeof chatFile>

export const toolCount = z.object({
  name: s.text(),
  calls: s.count('All calls, in any state.'),
  errors: s.count(),
  rejected: s.count(),
})
export type ToolCount = s.Answer<typeof toolCount>

const chatRef = z.object({
  id: s.chatId,
  title: s.text(),
  mode: s.maybeText(),
  createdAt: s.maybeTime(),
  lastActivityAt: s.maybeTime(),
  messageCount: s.count(),
  isSubagent: s.boolean(),
  deletedInCursor: s.boolean(),
})
export type ChatRef = s.Answer<typeof chatRef>

export const chatAnswer = z.extend(chat, {
  files: z.array(chatFile),
  toolCounts: z.array(toolCount),
  tokens: s.says(
    z.object({ recorded: z.nullable(recorded), estimated: z.nullable(estimated) }),
    'Sums over the messages of the thread, by source. They are never added to each other. Null means unknown.',
  ),
  children: s.says(z.array(chatRef), 'Those of childChatIds that are in the mirror.'),
  alternatives: s.says(z.array(chatRef), 'Chats in which Cursor ran the same prompt beside this one (best of N).'),
})
export type ChatDetail = s.Answer<typeof chatAnswer>

/** Why a chat may have led to a commit. */
export const evidence = s.named(
  'Evidence',
  z.object({
    time: s.says(
      z.nullable(z.object({ messages: s.count(), from: s.maybeTime(), to: s.maybeTime() })),
      "Messages within the commit's window: up to 30 minutes before it, and after its parent.",
    ),
    files: s.says(
      z.nullable(z.object({ paths: s.texts(), lastEditAt: s.maybeTime() })),
      'Files of the commit that the chat edited.',
    ),
    tracking: s.says(
      z.nullable(z.object({ from: s.maybeTime(), to: s.maybeTime() })),
      'When Cursor recorded code of the chat within the window of the commit, which Cursor scored.',
    ),
  }),
)

/** What `commit` adds to each chat of the list. */
const commitOfChat = z.object({ confidence: z.enum(confidences), evidence })

export const chatsAnswer = z.extend(
  s.pageOf(z.extend(chat, { commit: s.says(z.exactOptional(commitOfChat), 'With commit: why the chat matches it.') })),
  {
    undated: s.says(z.exactOptional(s.count()), 'With from or to: chats that were left out because they have no time.'),
  },
)

const listedLoss = z.object({
  at: s.maybeTime('When it was noticed.'),
  kind: z.enum(['message', 'chat']),
  chatId: s.chatId,
  messageId: s.says(z.nullable(s.messageId), 'Null for a chat.'),
  project: z.nullable(projectRef),
  title: s.text('Title of the chat.'),
  text: s.maybeText('The first words of the message, at most 300 characters; null for a chat.'),
})
export type ListedLoss = s.Answer<typeof listedLoss>

export const lossesAnswer = s.pageOf(listedLoss)

/** Losses in total. */
export const lossCounts = z.object({
  messages: s.count(),
  chats: s.count('Chats that were deleted as a whole.'),
  lastAt: s.maybeTime(),
})
export type LossCounts = s.Answer<typeof lossCounts>

const match = z.object({ id: s.text(), title: s.text(), confidence: z.enum(confidences), evidence })
/** A match as the API returns it. */
export type DescribedMatch = s.Answer<typeof match>

const commit = z.object({
  sha: s.text(),
  committedAt: s.maybeTime(),
  subject: s.text(),
  chats: s.says(z.array(match), 'The chats that may have led to it, the likeliest first.'),
})

export const commitsAnswer = s.pageOf(commit)
export type CommitReport = s.Answer<typeof commitsAnswer>
