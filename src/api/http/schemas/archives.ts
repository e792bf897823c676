import * as z from 'zod/mini'
import {
  count,
  maybeCount,
  maybeText,
  maybeTime,
  named,
  pageOf,
  says,
  text,
  texts,
  boolean,
  type Answer,
} from './common.ts'

const progress = z.object({ done: count, total: count })
/** Units of work, such as chats: how many are done, and how many there are. */
export type Progress = Answer<typeof progress>

export const archiveAnswer = named(
  'Archive',
  z.object({
    name: text,
    createdAt: maybeTime,
    scope: says(z.unknown(), 'The search or the filters of the run; null for everything.'),
    job: maybeText,
    chats: says(maybeCount, 'As chats are listed. Null until the run is done.'),
    unlisted: says(
      maybeCount,
      'Subagents, drafts and chats without messages, which are archived too. Null in a run of an older version: its chats include them.',
    ),
    messages: says(maybeCount, 'Messages of all of these, also orphans.'),
    bytes: maybeCount,
    leftOut: says(
      z.array(z.object({ id: text, why: text })),
      'Chats that could not be archived in their current state, and why. An earlier state may be included.',
    ),
    sha256: maybeText,
    state: z.enum(['running', 'verified', 'damaged', 'failed']),
    provenAt: says(maybeTime, 'When the run was last read back and compared.'),
    error: maybeText,
    progress: says(z.nullable(progress), 'Progress while the run is made or verified.'),
  }),
)
/** An archive run, as the API shows it. */
export type ArchiveRun = Answer<typeof archiveAnswer>

export const archivesAnswer = pageOf(archiveAnswer)

const verdict = z.object({
  ok: says(boolean, 'Whether everything that was read in the folder is undamaged.'),
  isSound: says(boolean, 'Whether the named archive is undamaged and was read completely.'),
  checked: says(count, 'Manifests and objects that were read.'),
  damaged: says(texts, 'Ids of the damaged chats.'),
  damagedRuns: says(
    z.array(z.object({ name: text, why: maybeText })),
    'why says what is wrong with the manifest; null if it is undamaged and its chats are damaged.',
  ),
  leftovers: says(texts, 'What an interrupted run left: objects that no manifest names, and unfinished files.'),
  unexpected: says(texts, 'What does not belong into an archive.'),
})
export type ArchiveVerdict = Answer<typeof verdict>
export type DamagedRun = ArchiveVerdict['damagedRuns'][number]

export const verdictAnswer = z.extend(verdict, { name: text })

export const restoredAnswer = z.object({
  name: says(text, 'The run that was read, or the newest one.'),
  runs: says(count, 'How many runs were read: more than one for newest.'),
  ok: says(boolean, 'False if any part is damaged.'),
  chats: says(count, 'Undamaged chats, as they are listed.'),
  unlisted: says(count, 'Undamaged subagents, drafts and chats without messages.'),
  messages: says(count, 'Messages of all of these, also orphans.'),
  added: says(count, 'Messages that were not in the mirror.'),
  addedChats: count,
  damaged: says(texts, 'Ids of the damaged chats.'),
  manifest: says(
    maybeText,
    'What is wrong with manifests, with the names of their runs for newest; null if they are undamaged.',
  ),
  unusedMaps: says(texts, 'Folders of the map, as given, that matched no chat of the archive.'),
})
export type ArchiveRestored = Answer<typeof restoredAnswer>

export const archiveHealth = z.object({
  running: maybeText,
  atWork: says(
    z.nullable(z.extend(progress, { name: text, act: z.enum(['run', 'verify', 'restore']) })),
    'The current act and its progress.',
  ),
  lastRunAt: maybeTime,
  nextRunAt: maybeTime,
  failed: says(
    z.array(z.object({ job: text, error: text, failures: count, retryAt: maybeTime })),
    'Jobs whose last run failed, and when each is retried.',
  ),
})
/** The state of the archives, for `/api/status`. */
export type ArchiveHealth = Answer<typeof archiveHealth>
