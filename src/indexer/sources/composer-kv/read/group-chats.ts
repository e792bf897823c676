import type { Mirror } from '../../../../mirror/open.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import { diffChats, type ChatDiff } from '../detect/diff-chats.ts'
import type { DirtyChat } from './dirty-chats.ts'
import type { Verdict } from '../detect/deletion-policy.ts'

/**
 * Chats are read together until they have this many changed rows: few while each message is indexed at once, then more.
 */
export const GROUP_ROWS_MAX = 400
const LARGE_GROUP_ROWS_MAX = 1000
/** For how many chats keys are listed while the store is open once. */
export const CHATS_PER_READ = 16

interface Grouping {
  readonly mirror: Mirror
  readonly num: number
  readonly isLarge: () => boolean
}

/** Yields the differences of changed chats in groups, in the given order. */
export function* groupChats(
  file: OpenFile,
  { mirror, num, isLarge }: Grouping,
  queue: readonly DirtyChat[],
  verdict: Verdict,
): Generator<readonly ChatDiff[], void> {
  let group: ChatDiff[] = []
  let rows = 0
  for (let at = 0; at < queue.length; at += CHATS_PER_READ) {
    for (const diff of diffChats(file, mirror, num, queue.slice(at, at + CHATS_PER_READ), verdict)) {
      group.push(diff)
      rows += diff.changed.length + 1
      if (rows < (isLarge() ? LARGE_GROUP_ROWS_MAX : GROUP_ROWS_MAX)) continue
      yield group
      group = []
      rows = 0
    }
  }
  if (group.length > 0) yield group
}
