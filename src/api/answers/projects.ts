import * as z from 'zod/mini'
import * as s from './common.ts'

export const projectRef = s.named('ProjectRef', z.object({ id: s.projectId, name: s.text() }))
export type ProjectRef = s.Answer<typeof projectRef>

/** There is one project per normalised root URI, even if Cursor has several workspace folders for it. */
export const project = s.named(
  'Project',
  z.object({
    id: s.says(s.projectId, 'Hash of the normalised root URI.'),
    name: s.text(),
    path: s.text(),
    uri: s.text(),
    remote: s.says(
      z.nullable(z.object({ kind: s.text(), host: s.text() })),
      'Where the files are, if not on this machine.',
    ),
    workspaceIds: s.texts(),
    chatCount: s.count('As chats are listed: without drafts and subagents.'),
    messageCount: s.count('Messages in the threads of these chats and of their subagents.'),
    firstActivityAt: s.maybeTime(),
    lastActivityAt: s.maybeTime(),
  }),
)
export type Project = s.Answer<typeof project>

export const projectsAnswer = s.pageOf(project)

const projectPlace = z.object({ ...projectRef.shape, path: s.text() })

export const mergeAnswer = z.object({
  old: projectPlace,
  new: projectPlace,
  chats: s.count('How many chats moved, those of subagents too.'),
})
export type MergeAnswer = s.Answer<typeof mergeAnswer>

/** Another machine, from which a chat was pulled. */
export const machine = s.named(
  'Machine',
  z.object({
    name: s.text('Its label. Machines of different users may have the same one.'),
    user: s.text('The PostgreSQL role that owns it.'),
  }),
)
export type Machine = s.Answer<typeof machine>

export const maybeMachine = s.says(
  z.nullable(machine),
  'The machine from which the chat was pulled; null for this machine.',
)

export const file = s.named(
  'File',
  z.object({
    path: s.text('Relative to the root of the project, if it lies there; with slashes.'),
    project: z.nullable(projectRef),
    edits: s.count('Calls that edited it. Failed and rejected ones do not count.'),
    reads: s.count('Calls that read it.'),
    chats: s.count('Chats with such calls.'),
    lastEditAt: s.maybeTime(),
  }),
)
export type FileUse = s.Answer<typeof file>

export const filesAnswer = s.pageOf(file)

export const fileEdit = z.object({
  chatId: s.chatId,
  messageId: s.messageId,
  title: s.text('Title of the chat.'),
  at: s.maybeTime(),
  tool: s.text(),
  linesAdded: s.maybeCount('Null if the call does not say what it changed.'),
  linesRemoved: s.maybeCount(),
  diff: s.maybeText(
    'Hunks whose lines begin with +, - or a blank; null if unknown, or longer than 200,000 characters.',
  ),
  deletedInCursor: s.boolean(),
  commits: s.says(
    z.nullable(s.texts()),
    'Shas of commits that may contain the edit; null if the project has no readable history.',
  ),
})
export type FileEditAnswer = s.Answer<typeof fileEdit>

export const fileHistoryAnswer = z.extend(s.pageOf(fileEdit), { path: s.text(), project: z.nullable(projectRef) })
