import * as z from 'zod/mini'
import { count, says, text, texts, boolean, type Answer } from './common.ts'

const purgedChat = z.object({
  id: text,
  title: text,
  isWhole: says(boolean, 'True if nothing of it stays, and nothing of it comes in again.'),
  messages: count,
})

export const purgeAnswer = z.object({
  dryRun: boolean,
  chats: says(z.array(purgedChat), 'The first hundred of them.'),
  chatCount: count,
  messages: says(count, 'Cursor keeps what it still has of them, and they are not read again.'),
  unknownChats: says(texts, 'Chats that were named, and that the mirror does not know.'),
  otherMachines: says(
    texts,
    'Other machines that have one of these chats at the hub. They keep it until they purge it.',
  ),
  archived: says(count, 'How many archived chats were replaced or removed; 0 for a dry run.'),
  unread: says(texts, 'What could not be read, and may still contain something: archives, files, folders and links.'),
  found: says(z.nullable(texts), 'Files that contain the text at the end; null if they were not searched.'),
})
/** What was removed, or would be. */
export type PurgeReport = Answer<typeof purgeAnswer>

export const acceptedAnswer = z.object({ lostBars: says(count, 'Always 0: no bar counts as missing any more.') })
