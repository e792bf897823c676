import * as z from 'zod/mini'
import { count, maybeTime, named, pageOf, projectId, says, text, texts, type Answer } from './common.ts'

export const projectRef = named('ProjectRef', z.object({ id: projectId, name: text }))
export type ProjectRef = Answer<typeof projectRef>

/** There is one project per normalised root URI, even if Cursor has several workspace folders for it. */
export const project = named(
  'Project',
  z.object({
    id: says(projectId, 'Hash of the normalised root URI.'),
    name: text,
    path: text,
    uri: text,
    remote: says(z.nullable(z.object({ kind: text, host: text })), 'Where the files are, if not on this machine.'),
    workspaceIds: texts,
    chatCount: says(count, 'As chats are listed: without drafts and subagents.'),
    messageCount: says(count, 'Messages in the threads of these chats and of their subagents.'),
    firstActivityAt: maybeTime,
    lastActivityAt: maybeTime,
  }),
)
export type Project = Answer<typeof project>

export const projectsAnswer = pageOf(project)

const projectPlace = z.object({ ...projectRef.shape, path: text })

export const mergeAnswer = z.object({
  old: projectPlace,
  new: projectPlace,
  chats: says(count, 'How many chats moved, those of subagents too.'),
})
export type MergeAnswer = Answer<typeof mergeAnswer>
