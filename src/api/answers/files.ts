import * as z from 'zod/mini'
import {
  boolean,
  chatId,
  count,
  maybeCount,
  maybeText,
  maybeTime,
  messageId,
  named,
  pageOf,
  says,
  text,
  texts,
  type Answer,
} from './common.ts'
import { projectRef } from './projects.ts'

export const file = named(
  'File',
  z.object({
    path: says(text, 'Relative to the root of the project, if it lies there; with slashes.'),
    project: z.nullable(projectRef),
    edits: says(count, 'Calls that edited it. Failed and rejected ones do not count.'),
    reads: says(count, 'Calls that read it.'),
    chats: says(count, 'Chats with such calls.'),
    lastEditAt: maybeTime,
  }),
)
export type FileUse = Answer<typeof file>

export const filesAnswer = pageOf(file)

export const fileEdit = z.object({
  chatId,
  messageId,
  title: says(text, 'Title of the chat.'),
  at: maybeTime,
  tool: text,
  linesAdded: says(maybeCount, 'Null if the call does not say what it changed.'),
  linesRemoved: maybeCount,
  diff: says(
    maybeText,
    'Hunks whose lines begin with +, - or a blank; null if unknown, or longer than 200,000 characters.',
  ),
  deletedInCursor: boolean,
  commits: says(
    z.nullable(texts),
    'Shas of commits that may contain the edit; null if the project has no readable history.',
  ),
})
export type FileEditAnswer = Answer<typeof fileEdit>

export const fileHistoryAnswer = z.extend(pageOf(fileEdit), { path: text, project: z.nullable(projectRef) })
