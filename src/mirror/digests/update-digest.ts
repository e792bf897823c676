import type { Mirror } from '../open.ts'
import { listCounted } from './digest-backlog.ts'
import { replaceInDigest } from './digest-format.ts'
import type { DigestWords } from './digest-words.ts'
import { digestMessage, readDigest, saveDigest, writeDigest, type CountedMessage } from './write-digest.ts'

/**
 * Brings some messages of a chat's digest up to date; the others, and the times of all, are as they were.
 * @param changed read again, with what they call
 */
export function updateDigest(
  db: Mirror,
  words: DigestWords,
  chatNum: number,
  changed: readonly CountedMessage[],
): void {
  const before = readDigest(db, chatNum)
  const after = changed.reduce<Buffer | null>(
    (digest, message) => digest && replaceInDigest(digest, digestMessage(words, message, message.calls ?? [])),
    before,
  )
  // It waits for its digest, or holds other messages than it should.
  if (after === null) writeDigest(db, words, chatNum, listCounted(db, chatNum))
  else if (before !== null && !after.equals(before)) saveDigest(db, chatNum, after)
}
