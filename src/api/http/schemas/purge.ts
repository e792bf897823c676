import * as z from 'zod/mini'
import { count, maybeText, says, text, texts, boolean, type Answer } from './common.ts'

const purgedChat = z.object({
  id: text,
  title: text,
  isWhole: says(boolean, 'True if nothing of it stays, and nothing of it comes in again.'),
  messages: count,
})

const damagedArchive = z.object({
  kind: z.enum(['object', 'run']),
  name: text,
  chatId: maybeText,
  why: text,
})
export type DamagedArchive = Answer<typeof damagedArchive>

export const purgeAnswer = z.object({
  dryRun: boolean,
  chats: says(z.array(purgedChat), 'The first hundred of them.'),
  chatCount: count,
  messages: count,
  inCursor: says(count, 'Messages that Cursor still has. It keeps them, and they are not read again.'),
  facts: says(count, 'Names, summaries, todos and paths of chats that contain the text.'),
  unknownChats: says(texts, 'Chats that were named, and that neither the mirror nor an archive knows.'),
  otherMachines: says(
    texts,
    'Other machines that have one of these chats at the hub. They keep it until they purge it.',
  ),
  setAside: says(texts, 'Damaged mirrors that were set aside, and are removed.'),
  archives: z.object({
    objects: says(count, 'How many objects were replaced or removed.'),
    messages: count,
    runs: says(texts, 'Names of the runs that were written again.'),
    damaged: says(
      z.array(damagedArchive),
      'What could not be read and is still there. Damaged objects of purged chats are removed.',
    ),
  }),
  left: says(maybeText, 'What remains to be done later, in a sentence; null if nothing does.'),
  check: says(
    z.nullable(
      z.object({
        files: count,
        bytes: count,
        found: says(
          z.array(z.object({ file: text, times: count, at: count })),
          'Files that contain the text, by their path in the folder. at: the offset of the first occurrence, in bytes.',
        ),
        unread: says(texts, 'Files and folders that could not be read or unpacked, and symbolic links.'),
      }),
    ),
    'The search of all files at the end; null for a dry run, and for a purge that is not of a text alone.',
  ),
})
/** What was removed, or would be. */
export type PurgeReport = Answer<typeof purgeAnswer>

export const purgeStateAnswer = z.object({
  doing: says(maybeText, 'What a purge does now, for people; null if none runs.'),
  tombstones: says(z.object({ chats: count, messages: count, texts: count }), 'What stays removed.'),
  lostBars: says(count, 'How many bars are missing. Then nothing is read from Cursor until the user accepts it.'),
  unfinished: says(
    z.object({ rows: boolean, archives: boolean, bytes: boolean }),
    "What an interrupted purge still has to do. bytes: rewrite the mirror's file, which may contain bytes of what was " +
      'removed.',
  ),
})
export type PurgeState = Answer<typeof purgeStateAnswer>
