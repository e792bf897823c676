import type { Aside } from '../../../../mirror/aside.ts'
import { emptyBatch } from '../../../../mirror/write/batch.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import * as held from '../../../../mirror/sources/source-state.ts'
import { writeBatch } from '../../../../mirror/write/write-batch.ts'
import type { ChatId } from '../../../../model/ids.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import { INDEXED_AT_ONCE, readingStep, type PassRequest, type PassStep } from '../../../source.ts'
import type { ChatDiff } from '../detect/diff-chats.ts'
import { chatKey } from '../keys.ts'
import type { Portion } from './portion-draft.ts'
import { portionsOf, type Begin, type ReadGroup, type ReadOrder } from './read-ahead.ts'
import { readChats } from './read-chats.ts'

/** One pass over a store, from start to end. */
export interface Pass {
  readonly mirror: Mirror
  readonly num: number
  /** Part of the ids that are made for messages without an id. */
  readonly firstId: string
  readonly request: PassRequest
  /** Messages written so far. */
  written: number
  /** True if a cheap look misses more rows than it may call gone: a comparison of all keys is needed. */
  isInDoubt: boolean
}

export const isIndexedLater = (pass: Pass): boolean => pass.written >= INDEXED_AT_ONCE

/**
 * Reads chats with changes, and writes them in one or a few transactions of the mirror.
 * @param isListedLater true if a user waits for the first results: everything that can wait is left for later
 */
export function* readGroup(file: OpenFile, pass: Pass, group: ReadGroup, isListedLater = false): Generator<PassStep> {
  const { mirror, num, firstId, request } = pass
  const known = {
    isGoneRow: (key: string) => held.isGoneRow(mirror, num, key),
    roles: (chatId: ChatId) => held.listRoles(mirror, chatId),
  }
  for (const portion of portionsOf(group, () => readChats(file, firstId, group.diffs, known))) {
    if (portion === null) {
      yield readingStep
      continue
    }
    const { chats, rows, goneKeys, issues, evidence, paths, bytesRead, longestReadMs } = portion
    const later = { isIndexedLater: isIndexedLater(pass), isListedLater }
    const news = { chats, rows, goneKeys, issues, evidence, paths, ...later, source: num, nowMs: request.now() }
    const outcome = writeBatch(mirror, { ...emptyBatch, ...news })
    pass.written += outcome.messages.length
    yield { ...readingStep, done: portion.rowsDone, bytesRead, longestReadMs, outcome }
  }
}

/** With fewer changed rows, another thread is not worth its start. */
const ROWS_AHEAD_MIN = 2000

/** The other thread, if this pass can use it. It shares no copy of a file. */
const asideFor = ({ path }: OpenFile, { request }: Pass, rows: number): Aside | null =>
  path === null || rows < ROWS_AHEAD_MIN ? null : (request.aside ?? null)

/** Another thread starts while all keys are compared. */
export const wakeAside = (file: OpenFile, pass: Pass, rows: number): void => asideFor(file, pass, rows)?.wake()

/** Returns how another thread starts to read a group; null if this pass has none, or is too small. */
export function beginAside(file: OpenFile, pass: Pass, rows: number): Begin | null {
  const aside = asideFor(file, pass, rows)
  const { path, identity } = file
  const { mirror, num, firstId } = pass
  if (aside === null || path === null) return null
  const isGone = (key: string): boolean => held.isGoneRow(mirror, num, key)
  return (diffs) =>
    diffs.every((diff) => isAllNew(diff, isGone))
      ? aside.start<Portion>('read-chats', { path, identity, firstId, diffs } satisfies ReadOrder)
      : null
}

/** Whether the chat can be read without the mirror. */
function isAllNew(
  { chatId, refs, changed, goneKeys, missedKeys }: ChatDiff,
  isGone: (key: string) => boolean,
): boolean {
  if (changed.length < refs.length || goneKeys.length + missedKeys.length > 0) return false
  const own = chatKey(chatId)
  return refs.some(({ key }) => key === own) || !isGone(own)
}
