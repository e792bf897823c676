import * as z from 'zod/mini'
import { sourceStates } from '../../model/source.ts'
import { archiveHealth } from './archives.ts'
import { lossCounts } from './chats.ts'
import * as s from './common.ts'

const state = z.enum(['starting', 'indexing', 'ready', 'degraded'])
export type DaemonState = s.Answer<typeof state>

const progress = z.object({
  stage: s.says(
    z.enum(['reading', 'indexing']),
    "reading: rows are copied from Cursor's stores. indexing: copied messages become searchable.",
  ),
  done: s.count(),
  total: s.count(),
  bytesPerSecond: s.maybeAmount(),
  etaMs: s.maybeAmount(),
})
export type Progress = s.Answer<typeof progress>

const source = s.named(
  'Source',
  z.object({
    id: s.sourceId,
    kind: s.text(),
    path: s.text(),
    state: z.enum(sourceStates),
    detail: s.maybeText(),
    lastSyncAt: s.maybeTime(),
    rows: s.count('Rows of the store at the last count.'),
  }),
)
export type SourceStatus = s.Answer<typeof source>

const counts = z.object({
  projects: s.count('As projects are listed, also those without a chat.'),
  chats: s.count('As chats are listed: with messages, without drafts and subagents.'),
  subagents: s.count('Chats of subagents with messages.'),
  messages: s.count('Messages in the threads of these chats and subagents.'),
  orphans: s.count('Messages that their chat no longer lists.'),
  deleted: s.count(
    'Messages, including orphans, that Cursor deleted and the mirror still has. A chat that was deleted as a whole is one loss, but all of its messages count here.',
  ),
})

const coverage = z.object({
  rows: s.count('Rows in the sources.'),
  read: s.count('Rows that became a chat or a message, or that are known to be empty. orphans are among them.'),
  orphans: s.count(),
  issues: s.count('Unreadable rows, including rows without a key.'),
  noise: s.count('The other rows of the stores: they belong to no chat.'),
})

const resources = z.object({
  rssBytes: s.count(),
  cpuPercent: s.amount(),
  longestReadMs: s.amount(),
  bytesRead: s.count(),
})
export type Resources = s.Answer<typeof resources>

export const statusAnswer = z.object({
  state,
  reasons: s.texts('Why it is degraded, or not ready yet.'),
  version: s.text(),
  uptimeMs: s.amount(),
  progress: z.nullable(progress),
  sources: s.says(z.array(source), 'The best sources of chats first.'),
  counts,
  losses: lossCounts,
  issues: s.says(z.record(s.text(), s.count()), 'Unreadable rows by reason.'),
  coverage,
  mirror: z.object({
    path: s.text(),
    bytes: s.count('With the full-text index, which has a file of its own.'),
    ftsBytes: s.count('Of the full-text index.'),
  }),
  resources,
  lagMs: s.maybeAmount('Time from a commit seen in a source until it is searchable; null before the first one.'),
  archives: archiveHealth,
  excluded: s.texts('Projects that exclude.projects of the settings leaves out, as they are written there.'),
})
export type Status = s.Answer<typeof statusAnswer>

/** In a problem the state is in its detail. */
export const readyAnswer = z.pick(statusAnswer, { state: true, reasons: true })

export const syncAnswer = z.object({
  changed: s.count(),
  added: s.count(),
  gone: s.count(),
  tookMs: s.amount(),
  reasons: s.texts(
    'Why some sources could not be read, or why missing rows do not count as deleted yet, as sentences.',
  ),
})
export type SyncOutcome = s.Answer<typeof syncAnswer>
