import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { filesOf, fileSignature } from '../../open-safely/cursor-file.ts'
import { countLater, readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../../source.ts'
import { unknownIn } from '../../open-safely/whole-store.ts'
import { writeWhole } from '../../open-safely/write-whole.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { asSourceId, type SourceId } from '../../../model/ids.ts'
import type { Glance } from './read.ts'
import { readStore } from './read-store.ts'

const KIND = 'global-items'
const DECODER = 3
/** The same as for workspaces, because its tabs are as old as theirs. */
const RANK = 2
/** The store changes with every message, and these items rarely do, so their changes can wait this long. */
const LOOK_EVERY_MS = 5000

/**
 * What the global store of one Cursor user folder contains besides the rows of chats.
 * @param userDir Cursor's `User` folder
 */
export function globalItemsSource(userDir: string): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${path}`).slice(0, 16)),
    kind: KIND,
    decoder: DECODER,
    path,
    rank: RANK,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const signature = fileSignature(path)
      const isSame = signature !== null && signature === held.readPosition(mirror, num).signature
      if (request.depth === 'nudge' && isSame) {
        held.saveSourceState(mirror, num, 'ok', null, null)
        return done
      }
      const last = lastSnapshot(mirror, source.id)
      return request.depth === 'nudge' && signature !== null && isFresh(last, request.now())
        ? countNeeded
        : yield* readAndWrite(mirror, source, request)
    },
    chatsIn: (other, known) => unknownIn(readStore(other, null), known),
  }
  return source
}

const done: PassEnd = { state: 'ok', detail: null, again: [] }
/** A value updated in place without a change of length shows only in the value itself, which is compared later. */
const countNeeded: PassEnd = { state: 'ok', detail: null, again: [countLater] }

interface Snapshot {
  readonly glance: Glance | null
  readonly atMs: number
}

/** What was seen last, by mirror. Source objects are rebuilt for every run; a new process reads once. */
const snapshots = new WeakMap<Mirror, Map<SourceId, Snapshot>>()

const lastSnapshot = (mirror: Mirror, id: SourceId): Snapshot | undefined => snapshots.get(mirror)?.get(id)

function saveSnapshot(mirror: Mirror, id: SourceId, seen: Snapshot | null): void {
  const ofMirror = snapshots.get(mirror) ?? new Map<SourceId, Snapshot>()
  snapshots.set(mirror, ofMirror)
  if (seen === null) ofMirror.delete(id)
  else ofMirror.set(id, seen)
}

function isFresh(last: Snapshot | undefined, nowMs: number): boolean {
  const sinceMs = last === undefined ? LOOK_EVERY_MS : nowMs - last.atMs
  return sinceMs >= 0 && sinceMs < LOOK_EVERY_MS
}

function* readAndWrite(mirror: Mirror, source: Source, request: PassRequest): Generator<PassStep, PassEnd> {
  const num = held.sourceNum(mirror, source)
  const atMs = request.now()
  const seen = request.depth === 'nudge' ? (lastSnapshot(mirror, source.id)?.glance ?? null) : null
  const found = readStore(source.path, seen)
  saveSnapshot(mirror, source.id, null)
  if (found.kind === 'closed') {
    held.saveSourceState(mirror, num, found.state, found.detail, null)
    return { state: found.state, detail: found.detail, again: [] }
  }
  if (found.kind === 'same') yield { ...readingStep, bytesRead: found.bytesRead }
  else yield* writeWhole(mirror, source, found.content, request)
  saveSnapshot(mirror, source.id, { glance: found.kind === 'same' ? seen : found.glance, atMs })
  held.saveSourceState(mirror, num, 'ok', null, request.now())
  return found.kind === 'same' ? countNeeded : done
}
