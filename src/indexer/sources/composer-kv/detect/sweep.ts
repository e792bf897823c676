import type { Mirror } from '../../../../mirror/open.ts'
import { readSweep, saveSweep, type Sweep } from '../../../../mirror/sources/sweeps.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { Again } from '../../../source.ts'
import { compareAbove, compareValues, type CompareStep } from './compare-values.ts'
import type { DirtyChats } from '../read/dirty-chats.ts'
import { listRecent } from './find-changes.ts'
import * as store from '../read/read.ts'

/** A slice of this size every `SLICE_EVERY_MS` reads 20 MB a second. */
const SLICE_OCTETS = 8 * 1024 * 1024
const SLICE_EVERY_MS = 400
/** Few, so that a slice that is cut short is short. */
const ROWS_A_LOOK = 250
/** A store that goes on changing is compared again after a rest: soon while it takes no time, else a tenth of the time. */
const REST_MS = 10_000
const LONG_REST_MS = 600_000
const REST_FACTOR = 10
/** A slice that comes later than this after the one before was not at work: the machine slept, or nobody ran. */
const PAUSE_MS = 10_000

interface SweptSource {
  readonly file: OpenFile
  readonly mirror: Mirror
  readonly num: number
  readonly nowMs: number
}

/**
 * The next slice of a comparison of every value with what the mirror holds, in the order of the rowids; what differs is
 * added to `dirty`. It proves equality where nothing cheaper can: a value updated in place leaves no trace but itself.
 * @returns how far the comparison then is, to be saved once what differs is written
 */
export function* sweepSlice(
  { file, mirror, num, nowMs }: SweptSource,
  dirty: DirtyChats,
): Generator<CompareStep, Sweep> {
  const before = readSweep(mirror, num)
  const begun =
    before.signature === null
      ? { signature: file.signature, afterRowid: 0, startedAtMs: nowMs }
      : { startedAtMs: before.startedAtMs + pausedMs(before, nowMs) }
  const sweep = { ...before, ...begun, endedAtMs: nowMs }
  // A copy in memory is read already.
  const octetsMax = file.bytesRead > 0 ? Infinity : SLICE_OCTETS
  let after = sweep.afterRowid
  for (let octets = 0; octets < octetsMax;) {
    const look = yield* compareAbove({ file, mirror, num }, after, ROWS_A_LOOK, dirty)
    if (look.last === null) return ended(sweep, file.signature, nowMs)
    octets += look.octets
    after = look.last
    // The rest can wait, and a quit that met us with the file open would leave its backup stale.
    if (file.isTouched()) break
  }
  return { ...sweep, afterRowid: after }
}

/** How long nothing was compared since the last slice, or by how much the clock was set: neither counts as work. */
function pausedMs({ endedAtMs }: Sweep, nowMs: number): number {
  const sinceMs = nowMs - (endedAtMs ?? nowMs)
  return sinceMs < 0 || sinceMs > PAUSE_MS ? sinceMs : 0
}

/** Verified only if the file is as it was when the comparison began. */
function ended(sweep: Sweep, signature: string, nowMs: number): Sweep {
  const verifiedSignature = sweep.signature === signature ? signature : sweep.verifiedSignature
  return { ...sweep, verifiedSignature, signature: null, afterRowid: 0, endedAtMs: nowMs }
}

/** Every value was compared, or read for the first time, since the file was in this state. */
export function noteVerified(mirror: Mirror, num: number, signature: string, nowMs: number): void {
  saveSweep(mirror, num, {
    verifiedSignature: signature,
    signature: null,
    afterRowid: 0,
    startedAtMs: nowMs,
    endedAtMs: nowMs,
  })
}

/** When to go on comparing; nothing where the file is as it was when every value was found equal. */
export function sweepAgain(mirror: Mirror, num: number, signature: string | null, nowMs: number): readonly Again[] {
  const { verifiedSignature, signature: underWay, startedAtMs, endedAtMs } = readSweep(mirror, num)
  if (underWay !== null) return [{ depth: 'sweep', inMs: SLICE_EVERY_MS }]
  if (signature === null || signature === verifiedSignature) return []
  const tookMs = Math.max(0, (endedAtMs ?? 0) - startedAtMs)
  const restMs = tookMs < SLICE_EVERY_MS ? REST_MS : Math.max(LONG_REST_MS, tookMs * REST_FACTOR)
  // Where the clock was set back, the whole rest and no more.
  const leftMs = Math.min(restMs, (endedAtMs ?? 0) + restMs - nowMs)
  return [{ depth: 'sweep', inMs: Math.max(REST_MS, leftMs) }]
}

/** Values rewritten in place matter most where the user is at work: those chats are compared after each change, soon. */
export const RECENT_AFTER_MS = 15_000
/** At most so much is read; the chats active last come first. */
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
