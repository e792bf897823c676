import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { judgeMissing, massRule } from '../../mass-loss.ts'
import { endedBy, filesOf, fileSignature, openCursorFile, type OpenFile } from '../../open-safely/cursor-file.ts'
import {
  countLater,
  isAtLeast,
  readingStep,
  type Again,
  type PassDepth,
  type PassEnd,
  type PassStep,
  type Source,
} from '../../source.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { countMissed } from '../../../mirror/sources/missed-rows.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { saveSweep, type Sweep } from '../../../mirror/sources/sweeps.ts'
import { writeBatch } from '../../../mirror/write/write-batch.ts'
import { emptyBatch } from '../../../mirror/write/batch.ts'
import { inBulk } from '../../../mirror/fulltext/bulk.ts'
import { asSourceId } from '../../../model/ids.ts'
import { emptyStore } from './read/empty-store.ts'
import { diffChats } from './detect/diff-chats.ts'
import { DirtyChats } from './read/dirty-chats.ts'
import { CHATS_PER_READ, GROUP_ROWS_MAX, groupChats } from './read/group-chats.ts'
import { listChatsIn } from './read/list-chats-in.ts'
import { findByKeys, findNew, sweepValues, type Found, type FoundByKeys, nextPosition } from './detect/find-changes.ts'
import { ReadAhead } from './read/read-ahead.ts'
import { beginAside, isIndexedLater, readGroup, wakeAside, type Pass } from './read/read-group.ts'
import { hasContexts, readContexts } from './read/read-context.ts'
import { countRows, findTable, listAbove, listTail, type RowCounts } from './read/read.ts'
import { lookAtStore } from './read/read-unknown.ts'
import { noteVerified, RECENT_AFTER_MS, sweepAgain, sweepRecent, sweepSlice } from './detect/sweep.ts'
import { allGone, goneByKeys, goneIfFew, type Verdict } from './detect/deletion-policy.ts'

const KIND = 'composer-kv'
const DECODER = 3
/**
 * Rows are compared with the mirror by number at most this often, so that one new message costs the same in any store.
 */
const COUNT_EVERY_MS = 60_000
/** During a long first pass, newly written rows are read this often. */
const READ_NEW_EVERY_MS = 1000
/**
 * In a store that was never read, the chats of this many newest rows are read first, because a person looks for those
 * first.
 */
const FIRST_ROWS = 2000

/**
 * The global key-value store of one Cursor user folder.
 * @param userDir Cursor's `User` folder
 */
export function composerKvSource(userDir: string): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  const id = asSourceId(digest('sha256', `${KIND} ${path}`).slice(0, 16))
  const source: Source = {
    id,
    kind: KIND,
    decoder: DECODER,
    path,
    rank: 0,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const signature = fileSignature(path)
      const isSame = signature !== null && signature === held.readPosition(mirror, num).signature
      if (request.depth === 'nudge' && isSame) {
        const again = sweepAgain(mirror, num, signature, request.now())
        held.saveSourceState(mirror, num, 'ok', null, null)
        return { state: 'ok', detail: null, again }
      }
      const firstId = held.firstSourceId(mirror, num)
      const pass = { mirror, num, firstId, request, written: 0, isInDoubt: false }
      const end = yield* openAndPass(path, pass)
      const syncedAtMs = end.state === 'ok' ? request.now() : null
      held.saveSourceState(mirror, num, end.state, end.detail, syncedAtMs)
      return end
    },
    look: () => lookAtStore(path),
    chatsIn: listChatsIn,
  }
  return source
}

function* openAndPass(path: string, pass: Pass): Generator<PassStep, PassEnd> {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, again: [] }
  try {
    return yield* passOver(file, pass)
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, again: [] }
  } finally {
    file.close()
  }
}

function* passOver(file: OpenFile, pass: Pass): Generator<PassStep, PassEnd> {
  const table = file.read(findTable)
  if (table.kind === 'unknown') return { state: 'unreadable', detail: table.why, again: [] }
  // A first pass takes a while. The store must not be reported as missing in the meantime.
  const isFirst = held.readPosition(pass.mirror, pass.num).watermark === null
  if (isFirst) held.saveSourceState(pass.mirror, pass.num, 'ok', null, null)
  const end = yield* runPass(table.kind === 'none' ? emptyStore(file) : file, pass)
  yield { ...readingStep, longestReadMs: file.longestReadMs() }
  return end
}

function* runPass(file: OpenFile, pass: Pass): Generator<PassStep, PassEnd> {
  const { mirror, num, request } = pass
  const position = held.readPosition(mirror, num)
  const isSwapped = position.identity !== null && position.identity !== file.identity
  const depth = isSwapped ? 'full' : request.depth
  let found: Found | null = null
  if (file.bytesRead > 0) yield { ...readingStep, bytesRead: file.bytesRead }
  // A comparison of all values includes this one.
  if (position.watermark !== null && depth !== 'full') {
    found = findNew(file, mirror, num, position, { nowMs: request.now(), isThorough: isAtLeast(depth, 'recent') })
  }
  const isReconcile = found === null || found.isAlarmed || depth === 'reconcile'
  // After a mass loss the rows may be back at any moment.
  const isWatched = countMissed(mirror, num) > 0
  const isCountDue =
    isAtLeast(depth, 'count') || isWatched || request.now() - (position.countedAtMs ?? 0) >= COUNT_EVERY_MS
  const counts = isReconcile || isCountDue ? file.read(countRows) : null
  if (counts !== null) held.saveCounts(mirror, num, counts, request.now())
  // Rows left by an interrupted pass, or in a salvaged mirror, may exist only in the mirror by now.
  const isFirst = position.watermark === null && held.countHeldRows(mirror, num) === 0
  if (isFirst) {
    yield* inBulk(mirror, () => readNewest(file, pass))
    wakeAside(file, pass, counts?.chatRows ?? 0)
  }
  if (found !== null) yield* readDirty(file, pass, found)
  if (found === null || isReconcile || pass.isInDoubt || (counts !== null && !isCountEqual(mirror, num, counts))) {
    const again = (): Generator<PassStep, Found> => reconcile(file, pass, depth)
    found = yield* isFirst ? inBulk(mirror, again) : again()
  }
  if (depth !== 'full') yield* compareSome(file, pass, depth, found.top)
  const batch = {
    ...emptyBatch,
    source: num,
    nowMs: request.now(),
    position: nextPosition(file, pass, found.top, position),
  }
  writeBatch(mirror, batch)
  if (depth === 'full' || position.watermark === null) noteVerified(mirror, num, file.signature, request.now())
  return {
    state: 'ok',
    detail: null,
    again: [
      ...(counts === null ? [countLater] : []),
      ...(position.watermark === null && file.read(hasContexts) ? [placeSoon] : []),
      ...againAfter(file, pass, depth, position),
    ],
  }
}

/** By then the lists of the workspaces have been read, which place most chats. */
const placeSoon: Again = { depth: 'reconcile', inMs: 2000 }

/** Runs before all keys are listed, because that takes longer the larger the store is. */
function* readNewest(file: OpenFile, pass: Pass): Generator<PassStep, void> {
  const dirty = new DirtyChats()
  for (const ref of file.read((db) => listTail(db, Number.MAX_SAFE_INTEGER, FIRST_ROWS))) dirty.add(ref)
  const grouping = { mirror: pass.mirror, num: pass.num, isLarge: () => false }
  for (const group of groupChats(file, grouping, dirty.newestFirst(), cheapVerdict(pass, false))) {
    yield* readGroup(file, pass, { diffs: group, task: null }, true)
    if (isIndexedLater(pass)) break
  }
}

/** Compares the chats active within a day, or the next slice of the store. */
function* compareSome(file: OpenFile, pass: Pass, depth: PassDepth, top: Found['top']): Generator<PassStep, void> {
  if (depth === 'nudge') return
  const { mirror, num, request } = pass
  const dirty = new DirtyChats()
  const swept = { file, mirror, num, nowMs: request.now() }
  let sweep: Sweep | null = null
  const steps = depth === 'sweep' ? sweepSlice(swept, dirty) : sweepRecent(swept, dirty)
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) {
      sweep = next.value ?? null
      break
    }
    yield { ...readingStep, bytesRead: next.value.bytesRead, longestReadMs: next.value.elapsedMs }
  }
  yield* readDirty(file, pass, { dirty, top, isAlarmed: false })
  if (sweep !== null) saveSweep(mirror, num, sweep)
}

function againAfter(
  file: OpenFile,
  { mirror, num, request }: Pass,
  depth: PassDepth,
  before: held.HeldPosition,
): Again[] {
  const isChanged = before.signature !== file.signature && before.watermark !== null
  const recent: Again[] = isChanged && !isAtLeast(depth, 'recent') ? [{ depth: 'recent', inMs: RECENT_AFTER_MS }] : []
  return [...recent, ...sweepAgain(mirror, num, file.signature, request.now())]
}

const isCountEqual = (mirror: Mirror, num: number, counts: RowCounts): boolean =>
  counts.chatRows === held.countHeldRows(mirror, num) - countMissed(mirror, num) + held.countBadKeys(mirror, num)

/** In a large store this takes seconds, and a stop must not wait for its end. */
function* compareKeys(file: OpenFile, { mirror, num }: Pass): Generator<PassStep, FoundByKeys> {
  const pages = findByKeys(file, mirror, num)
  for (let next = pages.next(); ; next = pages.next()) {
    if (next.done === true) return next.value
    yield readingStep
  }
}

function* reconcile(file: OpenFile, pass: Pass, depth: PassDepth): Generator<PassStep, Found> {
  const { mirror, num, request } = pass
  const found = yield* compareKeys(file, pass)
  if (depth === 'full') {
    for (const step of sweepValues(file, mirror, num, found.dirty)) {
      yield { ...readingStep, bytesRead: step.bytesRead, longestReadMs: step.elapsedMs }
    }
  }
  held.replaceBadKeys(mirror, num, found.badKeys, request.now())
  const gone = judgeMissing(mirror, num, found, request)
  for (const row of found.missing) if (gone.has(row.key)) found.dirty.add(row)
  const verdict = request.depth === 'full' ? allGone : goneByKeys(gone)
  yield* readDirty(file, pass, { ...found, verdict })
  // Not during the first pass: the workspaces' lists, which place most chats, have not been read yet.
  if (depth === 'reconcile' || depth === 'full') yield* placeByContext(file, pass)
  return found
}

/** The last resort: it examines every chat without a project. */
function* placeByContext(file: OpenFile, { mirror, num, request }: Pass): Generator<PassStep, void> {
  for (const { evidence, bytesRead, elapsedMs } of readContexts(file, mirror, num)) {
    const batch = { ...emptyBatch, source: num, nowMs: request.now(), evidence }
    const outcome = evidence.length === 0 ? null : writeBatch(mirror, batch)
    yield { ...readingStep, bytesRead, longestReadMs: elapsedMs, outcome }
  }
}

/** Reads the changed chats, newest first, in groups; each group is one or a few transactions of the mirror. */
function* readDirty(
  file: OpenFile,
  pass: Pass,
  found: Found & { readonly verdict?: Verdict },
): Generator<PassStep, void> {
  const { mirror, num, request } = pass
  const queue = found.dirty.newestFirst()
  const verdict = found.verdict ?? cheapVerdict(pass, queue.length <= CHATS_PER_READ)
  let done = 0
  let newReadAtMs = request.now()
  let seenRowid = found.top?.rowid ?? 0
  const groups = groupChats(file, { mirror, num, isLarge: () => isIndexedLater(pass) }, queue, verdict)
  const ahead = new ReadAhead(groups, beginAside(file, pass, found.dirty.rows))
  for (const group of ahead) {
    for (const step of readGroup(file, pass, group)) {
      done += step.done
      yield { ...step, done, total: Math.max(found.dirty.rows, done) }
    }
    if (request.now() - newReadAtMs < READ_NEW_EVERY_MS) continue
    newReadAtMs = request.now()
    const before = seenRowid
    seenRowid = yield* readNew(file, pass, seenRowid)
    if (seenRowid !== before) ahead.drop()
  }
}

const cheapVerdict = (pass: Pass, isOnlyLook: boolean): Verdict =>
  goneIfFew(isOnlyLook, (pass.request.mass ?? massRule).rows, () => {
    pass.isInDoubt = true
  })

/** A first pass over a large store takes minutes. What the user writes in the meantime must not wait for its end. */
function* readNew(file: OpenFile, pass: Pass, seenRowid: number): Generator<PassStep, number> {
  const above = file.read((db) => listAbove(db, seenRowid, GROUP_ROWS_MAX))
  const dirty = new DirtyChats()
  for (const ref of above) dirty.add(ref)
  const group = diffChats(file, pass.mirror, pass.num, dirty.newestFirst(), cheapVerdict(pass, false))
  if (group.length > 0) yield* readGroup(file, pass, { diffs: group, task: null })
  return above.at(-1)?.rowid ?? seenRowid
}
