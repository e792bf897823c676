import * as z from 'zod/mini'
import {
  boolean,
  chatId,
  count,
  maybeCount,
  maybeText,
  maybeTime,
  named,
  pageOf,
  says,
  text,
  texts,
  type Answer,
} from './common.ts'

const archivedChat = z.object({
  id: chatId,
  title: says(maybeText, 'Null if the object is damaged.'),
  messages: count,
  bytes: says(count, 'Size of its object.'),
  isHere: says(boolean, 'Whether the mirror has the chat.'),
})
export type ListedArchivedChat = Answer<typeof archivedChat>
export const archivedChatsAnswer = pageOf(archivedChat)

const progress = z.object({ done: count, total: count })

export const archiveAnswer = named(
  'Archive',
  z.object({
    name: text,
    createdAt: maybeTime,
    scope: says(z.unknown(), 'The search of the run, of older versions also filters; null for everything.'),
    job: maybeText,
    chats: says(maybeCount, 'As chats are listed: no subagents, drafts and empty ones. Null until the run is done.'),
    messages: says(maybeCount, 'Messages of all archived chats, also orphans.'),
    bytes: maybeCount,
    leftOut: says(
      z.array(z.object({ id: text, why: text })),
      'Chats that could not be archived in their current state, and why. An earlier state may be included.',
    ),
    sha256: maybeText,
    state: z.enum(['running', 'verified', 'damaged', 'failed']),
    provenAt: says(maybeTime, 'When the run was last read back and compared.'),
    error: maybeText,
  }),
)
/** An archive run, as the API shows it. */
export type ArchiveRun = Answer<typeof archiveAnswer>

export const archivesAnswer = pageOf(archiveAnswer)

export const verdictAnswer = z.object({
  name: text,
  ok: says(boolean, 'Whether everything that was read in the folder is undamaged.'),
  checked: says(count, 'Manifests and objects that were read.'),
  damaged: says(texts, 'Ids of the damaged chats.'),
  damagedRuns: says(
    z.array(z.object({ name: text, why: maybeText })),
    'why says what is wrong with the manifest; null if it is undamaged and its chats are damaged.',
  ),
  unexpected: says(texts, 'What does not belong into an archive, and damaged objects that no manifest names.'),
})
export type ArchiveVerdict = Answer<typeof verdictAnswer>

export const restoredAnswer = z.object({
  name: says(text, 'The run that was read, or the newest one.'),
  runs: says(count, 'How many runs were read: more than one for newest.'),
  ok: says(boolean, 'False if any part is damaged.'),
  chats: says(count, 'Undamaged chats, new or not, as they are listed.'),
  messages: says(count, 'Messages of all undamaged chats, also orphans.'),
  added: says(count, 'Messages that were not in the mirror. With dryRun: that would be added.'),
  addedChats: count,
  damaged: says(texts, 'Ids of the damaged chats.'),
  manifest: says(maybeText, 'What is wrong with manifests of runs; null if they are undamaged.'),
})
export type ArchiveRestored = Answer<typeof restoredAnswer>

export const archiveHealth = z.object({
  running: maybeText,
  atWork: z.nullable(z.extend(progress, { name: text, act: z.enum(['run', 'verify', 'restore']) })),
  lastRunAt: maybeTime,
  nextRunAt: maybeTime,
  failed: says(
    z.array(z.object({ job: text, error: text, failures: count, retryAt: maybeTime })),
    'Jobs whose last run failed, and when each is retried.',
  ),
})
/** The state of the archives, for `/api/status`. */
export type ArchiveHealth = Answer<typeof archiveHealth>

/** What to restore. */
export interface RestoreRequest {
  /** `newest`: the newest state of every chat that any run of the folder names. */
  readonly name: string
  /** Absolute path of an archive folder from another machine; null for this program's own. */
  readonly from: string | null
  /** Folders on the other machine, and their paths on this one. */
  readonly map: Readonly<Record<string, string>>
  /** Only counts what would be added. */
  readonly dryRun?: boolean
}

/** What can be done with archives. Only one act runs at a time. */
export interface ArchiveActs {
  /** The archive folder. */
  readonly dir: string
  /** Starts a run. @param scope which chats, as a search; null for all  @param timeZone of the dates in the scope */
  run(scope: string | null, timeZone: string): { readonly run: ArchiveRun }
  /** The newest first. */
  list(): readonly ArchiveRun[]
  /** Resolves when every byte was read. */
  verify(name: string): Promise<ArchiveVerdict>
  /** Resolves when everything undamaged is restored and searchable. @throws UserError `bad-map`, `archive-not-found` */
  restore(request: RestoreRequest): Promise<ArchiveRestored>
  health(): ArchiveHealth
}
