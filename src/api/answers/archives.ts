import * as z from 'zod/mini'
import * as s from './common.ts'

const archivedChat = z.object({
  id: s.chatId,
  title: s.maybeText('Null if the object is damaged.'),
  messages: s.count(),
  bytes: s.count('Size of its object.'),
  isHere: s.boolean('Whether the mirror has the chat.'),
})
export type ListedArchivedChat = s.Answer<typeof archivedChat>
export const archivedChatsAnswer = s.pageOf(archivedChat)

const progress = z.object({ done: s.count(), total: s.count() })

export const archiveAnswer = s.named(
  'Archive',
  z.object({
    name: s.text(),
    createdAt: s.maybeTime(),
    scope: s.says(z.unknown(), 'The search of the run, of older versions also filters; null for everything.'),
    job: s.maybeText(),
    chats: s.maybeCount('As chats are listed: no subagents, drafts and empty ones. Null until the run is done.'),
    messages: s.maybeCount('Messages of all archived chats, also orphans.'),
    bytes: s.maybeCount(),
    leftOut: s.says(
      z.array(z.object({ id: s.text(), why: s.text() })),
      'Chats that could not be archived in their current state, and why. An earlier state may be included.',
    ),
    sha256: s.maybeText(),
    state: z.enum(['running', 'verified', 'damaged', 'failed']),
    provenAt: s.maybeTime('When the run was last read back and compared.'),
    error: s.maybeText(),
  }),
)
/** An archive run, as the API shows it. */
export type ArchiveRun = s.Answer<typeof archiveAnswer>

export const archivesAnswer = s.pageOf(archiveAnswer)

export const verdictAnswer = z.object({
  name: s.text(),
  ok: s.boolean('Whether everything that was read in the folder is undamaged.'),
  checked: s.count('Manifests and objects that were read.'),
  damaged: s.texts('Ids of the damaged chats.'),
  damagedRuns: s.says(
    z.array(z.object({ name: s.text(), why: s.maybeText() })),
    'why says what is wrong with the manifest; null if it is undamaged and its chats are damaged.',
  ),
  unexpected: s.texts('What does not belong into an archive, and damaged objects that no manifest names.'),
})
export type ArchiveVerdict = s.Answer<typeof verdictAnswer>

export const restoredAnswer = z.object({
  name: s.text('The run that was read, or the newest one.'),
  runs: s.count('How many runs were read: more than one for newest.'),
  ok: s.boolean('False if any part is damaged.'),
  chats: s.count('Undamaged chats, new or not, as they are listed.'),
  messages: s.count('Messages of all undamaged chats, also orphans.'),
  added: s.count('Messages that were not in the mirror. With dryRun: that would be added.'),
  addedChats: s.count(),
  damaged: s.texts('Ids of the damaged chats.'),
  manifest: s.maybeText('What is wrong with manifests of runs; null if they are undamaged.'),
})
export type ArchiveRestored = s.Answer<typeof restoredAnswer>

export const archiveHealth = z.object({
  running: s.maybeText(),
  atWork: z.nullable(z.extend(progress, { name: s.text(), act: z.enum(['run', 'verify', 'restore']) })),
  lastRunAt: s.maybeTime(),
  nextRunAt: s.maybeTime(),
  failed: s.says(
    z.array(z.object({ job: s.text(), error: s.text(), failures: s.count(), retryAt: s.maybeTime() })),
    'Jobs whose last run failed, and when each is retried.',
  ),
})
/** The state of the archives, for `/api/status`. */
export type ArchiveHealth = s.Answer<typeof archiveHealth>

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

const purgedChat = z.object({
  id: s.text(),
  title: s.text(),
  isWhole: s.boolean('True if nothing of it stays, and nothing of it comes in again.'),
  messages: s.count(),
})

export const purgeAnswer = z.object({
  dryRun: s.boolean(),
  chats: s.says(z.array(purgedChat), 'The first hundred of them.'),
  chatCount: s.count(),
  messages: s.count('Cursor keeps what it still has of them, and they are not read again.'),
  unknownChats: s.texts('Chats that were named, and that the mirror does not know.'),
  otherMachines: s.texts('Other machines that have one of these chats at the hub. They keep it until they purge it.'),
  archived: s.count('How many archived chats were replaced or removed; 0 for a dry run.'),
  unread: s.texts('What could not be read, and may still contain something: archives, files, folders and links.'),
  found: s.says(z.nullable(s.texts()), 'Files that contain the text at the end; null if they were not searched.'),
})
/** What was removed, or would be. */
export type PurgeReport = s.Answer<typeof purgeAnswer>

export const acceptedAnswer = z.object({ lostBars: s.count('Always 0: no bar counts as missing any more.') })
