import type { Mirror } from '../../../../mirror/open.ts'
import { readSweep, saveSweep, type Sweep } from '../../../../mirror/sources/sweeps.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { Again } from '../../../source.ts'
import { compareAbove, compareValues, type CompareStep } from './compare-values.ts'
import type { DirtyChats } from '../read/dirty-chats.ts'
import { listRecent } from './find-changes.ts'
import * as store from '../read/read.ts'

/** One slice of this size every `SLICE_EVERY_MS` is 20 MB per second. */
const SLICE_OCTETS = 8 * 1024 * 1024
const SLICE_EVERY_MS = 400
/** Small, so that a slice can stop early. */
const ROWS_PER_READ = 250
/**
 * A store that keeps changing is compared again after a pause: soon if a comparison is quick, otherwise after ten times
 * its duration.
 */
const REST_MS = 10_000
const LONG_REST_MS = 600_000
const REST_FACTOR = 10
/**
 * If a slice starts later than this after the previous one, the time between was not work: the machine slept, or no
 * process ran.
 */
const PAUSE_MS = 10_000

interface SweptSource {
  readonly file: OpenFile
  readonly mirror: Mirror
  readonly num: number
  readonly nowMs: number
}

/**
 * The next slice of a comparison of every value with the mirror, in order of rowid. Differences are added to `dirty`.
 * Nothing cheaper can prove equality, because a value updated in place leaves no other trace.
 * @returns the new position of the comparison, to be saved after the differences are written
 */
export function* sweepSlice(
  { file, mirror, num, nowMs }: SweptSource,
  dirty: DirtyChats,
): Generator<CompareStep, Sweep> {
  const before = readSweep(mirror, num)
  const start =
    before.signature === null
      ? { signature: file.signature, afterRowid: 0, startedAtMs: nowMs }
      : { startedAtMs: before.startedAtMs + pausedMs(before, nowMs) }
  const sweep = { ...before, ...start, endedAtMs: nowMs }
  // A copy in memory has already been read.
  const octetsMax = file.bytesRead > 0 ? Infinity : SLICE_OCTETS
  let after = sweep.afterRowid
  for (let octets = 0; octets < octetsMax;) {
    const compared = yield* compareAbove({ file, mirror, num }, after, ROWS_PER_READ, dirty)
    if (compared.last === null) return ended(sweep, file.signature, nowMs)
    octets += compared.octets
    after = compared.last
    // The rest can wait. If Cursor quit while we have the file open, its backup would be stale.
    if (file.isTouched()) break
  }
  return { ...sweep, afterRowid: after }
}

/**
 * How long nothing was compared since the last slice, or by how much the clock was set back; neither counts as work.
 */
function pausedMs({ endedAtMs }: Sweep, nowMs: number): number {
  const sinceMs = nowMs - (endedAtMs ?? nowMs)
  return sinceMs < 0 || sinceMs > PAUSE_MS ? sinceMs : 0
}

/** Verified only if the file is the same as when the comparison began. */
function ended(sweep: Sweep, signature: string, nowMs: number): Sweep {
  const verifiedSignature = sweep.signature === signature ? signature : sweep.verifiedSignature
  return { ...sweep, verifiedSignature, signature: null, afterRowid: 0, endedAtMs: nowMs }
}

/** Records that every value was compared, or read for the first time, since the file was in this state. */
export function noteVerified(mirror: Mirror, num: number, signature: string, nowMs: number): void {
  saveSweep(mirror, num, {
    verifiedSignature: signature,
    signature: null,
    afterRowid: 0,
    startedAtMs: nowMs,
    endedAtMs: nowMs,
  })
}

/** When to continue comparing; empty if the file is the same as when all values were found equal. */
export function sweepAgain(mirror: Mirror, num: number, signature: string | null, nowMs: number): readonly Again[] {
  const { verifiedSignature, signature: current, startedAtMs, endedAtMs } = readSweep(mirror, num)
  if (current !== null) return [{ depth: 'sweep', inMs: SLICE_EVERY_MS }]
  if (signature === null || signature === verifiedSignature) return []
  const tookMs = Math.max(0, (endedAtMs ?? 0) - startedAtMs)
  const restMs = tookMs < SLICE_EVERY_MS ? REST_MS : Math.max(LONG_REST_MS, tookMs * REST_FACTOR)
  // If the clock was set back, wait for one full pause and no longer.
  const leftMs = Math.min(restMs, (endedAtMs ?? 0) + restMs - nowMs)
  return [{ depth: 'sweep', inMs: Math.max(REST_MS, leftMs) }]
}

/**
 * Values updated in place matter most in the chats that the user works in: those are compared soon after each change.
 */
export const RECENT_AFTER_MS = 15_000
/** At most this much is read, starting with the chats active last. */
const RECENT_OCTETS_MAX = 32 * 1024 * 1024

/** Compares the values of the chats active within a day. */
export function* sweepRecent(
  { file, mirror, num, nowMs }: SweptSource,
  dirty: DirtyChats,
): Generator<CompareStep, void> {
  let octets = 0
  for (const chatId of listRecent(mirror, num, nowMs)) {
    if (octets > RECENT_OCTETS_MAX) return
    const refs = file.read((db) => store.listChat(db, chatId))
    octets += yield* compareValues({ file, mirror, num }, refs, dirty)
  }
}
