import * as z from 'zod/mini'
import * as s from './common.ts'
import { projectRef } from './projects.ts'

export const file = s.named(
  'File',
  z.object({
    path: s.says(s.text, 'Relative to the root of the project, if it lies there; with slashes.'),
    project: z.nullable(projectRef),
    edits: s.says(s.count, 'Calls that edited it. Failed and rejected ones do not count.'),
    reads: s.says(s.count, 'Calls that read it.'),
    chats: s.says(s.count, 'Chats with such calls.'),
    lastEditAt: s.maybeTime,
  }),
)
export type FileUse = s.Answer<typeof file>

export const filesAnswer = s.pageOf(file)

export const fileEdit = z.object({
  chatId: s.chatId,
  messageId: s.messageId,
  title: s.says(s.text, 'Title of the chat.'),
  at: s.maybeTime,
  tool: s.text,
  linesAdded: s.says(s.maybeCount, 'Null if the call does not say what it changed.'),
  linesRemoved: s.maybeCount,
  diff: s.says(
    s.maybeText,
    'Hunks whose lines begin with +, - or a blank; null if unknown, or longer than 200,000 characters.',
  ),
  deletedInCursor: s.boolean,
  commits: s.says(
    z.nullable(s.texts),
    'Shas of commits that may contain the edit; null if the project has no readable history.',
  ),
})
export type FileEditAnswer = s.Answer<typeof fileEdit>

export const fileHistoryAnswer = z.extend(s.pageOf(fileEdit), { path: s.text, project: z.nullable(projectRef) })
