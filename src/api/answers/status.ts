import * as z from 'zod/mini'
import { sourceStates } from '../../model/source.ts'
import { archiveHealth } from './archives.ts'
import { lossCounts } from './chats.ts'
import {
  amount,
  count,
  maybeAmount,
  maybeText,
  maybeTime,
  named,
  says,
  sourceId,
  text,
  texts,
  type Answer,
} from './common.ts'

const state = z.enum(['starting', 'indexing', 'ready', 'degraded'])
export type DaemonState = Answer<typeof state>

const progress = z.object({
  stage: says(
    z.enum(['reading', 'indexing']),
    "reading: rows are copied from Cursor's stores. indexing: copied messages become searchable.",
  ),
  done: count,
  total: count,
  bytesPerSecond: maybeAmount,
  etaMs: maybeAmount,
})
export type Progress = Answer<typeof progress>

const source = named(
  'Source',
  z.object({
    id: sourceId,
    kind: text,
    path: text,
    state: z.enum(sourceStates),
    detail: maybeText,
    lastSyncAt: maybeTime,
    rows: says(count, 'Rows of the store at the last count.'),
  }),
)
export type SourceStatus = Answer<typeof source>

const counts = z.object({
  projects: says(count, 'As projects are listed, also those without a chat.'),
  chats: says(count, 'As chats are listed: with messages, without drafts and subagents.'),
  subagents: says(count, 'Chats of subagents with messages.'),
  messages: says(count, 'Messages in the threads of these chats and subagents.'),
  orphans: says(count, 'Messages that their chat no longer lists.'),
  deleted: says(
    count,
    'Messages, including orphans, that Cursor deleted and the mirror still has. A chat that was deleted as a whole is one loss, but all of its messages count here.',
  ),
})
export type Counts = Answer<typeof counts>

const coverage = z.object({
  rows: says(count, 'Rows in the sources.'),
  read: says(count, 'Rows that became a chat or a message, or that are known to be empty. orphans are among them.'),
  orphans: count,
  issues: says(count, 'Unreadable rows, including rows without a key.'),
  noise: says(count, 'The other rows of the stores: they belong to no chat.'),
})
export type Coverage = Answer<typeof coverage>

const resources = z.object({
  rssBytes: count,
  cpuPercent: amount,
  longestReadMs: amount,
  bytesRead: count,
  bytesReadLastMinute: says(count, "From Cursor's files; 0 while nothing changes."),
})
export type Resources = Answer<typeof resources>

const diskUse = z.object({
  textBytes: says(amount, 'About how many bytes of text are in the mirror.'),
  diskPerTextByte: says(maybeAmount, 'Bytes on disk per byte of text; null while the mirror has no text.'),
})
export type DiskUse = Answer<typeof diskUse>

export const statusAnswer = z.object({
  state,
  reasons: says(texts, 'Why it is degraded, or not ready yet.'),
  version: text,
  uptimeMs: amount,
  progress: z.nullable(progress),
  sources: says(z.array(source), 'The best sources of chats first.'),
  counts,
  losses: lossCounts,
  issues: says(z.record(text, count), 'Unreadable rows by reason.'),
  coverage,
  mirror: z.object({
    path: text,
    bytes: says(count, 'With the full-text index, which has a file of its own.'),
    ftsBytes: says(count, 'Of the full-text index.'),
  }),
  resources: z.extend(resources, diskUse.shape),
  lagMs: says(maybeAmount, 'Time from a commit seen in a source until it is searchable; null before the first one.'),
  archives: archiveHealth,
})
export type Status = Answer<typeof statusAnswer>

/** In a problem the state is in its detail. */
export const readyAnswer = z.pick(statusAnswer, { state: true, reasons: true })

export const syncAnswer = z.object({
  changed: count,
  added: count,
  gone: count,
  tookMs: amount,
  reasons: says(
    texts,
    'Why some sources could not be read, or why missing rows do not count as deleted yet, as sentences.',
  ),
})
export type SyncOutcome = Answer<typeof syncAnswer>
