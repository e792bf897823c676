import { hash as digest } from 'node:crypto'
import { join } from 'node:path'
import { endedBy, filesOf, fileSignature, openCursorFile } from '../../open-safely/cursor-file.ts'
import { mayBeFolder } from '../../open-safely/file-identity.ts'
import { isAtLeast, type PassEnd, type Source } from '../../source.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { asSourceId } from '../../../model/ids.ts'
import { importTracking } from './import-tracking.ts'

const KIND = 'tracking'
/** It contains no chats, so no chat ever comes from it. */
const RANK = 9
/** Cursor writes to it with every edit, and its content is not urgent. */
const READ_EVERY_MS = 60_000

/**
 * Cursor's record of the code that its chats wrote.
 * @param home one of Cursor's home folders, such as `~/.cursor`
 */
export const trackingSources = (home: string): Source[] => {
  const folder = join(home, 'ai-tracking')
  return mayBeFolder(folder) ? [trackingSource(folder)] : []
}

function trackingSource(folder: string): Source {
  const path = join(folder, 'ai-code-tracking.db')
  const source: Source = {
    id: asSourceId(digest('sha256', `${KIND} ${path}`).slice(0, 16)),
    kind: KIND,
    path,
    rank: RANK,
    folder,
    files: filesOf(path),
    decoder: 1,
    isAlwaysWarm: false,
    signature: () => fileSignature(path),
    *pass(mirror, request) {
      const num = held.sourceNum(mirror, source)
      const signature = fileSignature(path)
      const { signature: known, countedAtMs } = held.readPosition(mirror, num)
      if (signature !== null && !isAtLeast(request.depth, 'count')) {
        if (signature === known) return ended(mirror, num, { state: 'ok', detail: null, again: [] }, null)
        const sinceMs = request.now() - (countedAtMs ?? 0)
        const inMs = READ_EVERY_MS - sinceMs
        if (sinceMs >= 0 && inMs > 0) return { state: 'ok', detail: null, again: [{ depth: 'count', inMs }] }
      }
      const file = openCursorFile(path)
      if (file.kind === 'closed') {
        return ended(mirror, num, { state: file.state, detail: file.detail, again: [] }, null)
      }
      try {
        yield* importTracking({ mirror, num, file, request })
        return ended(mirror, num, { state: 'ok', detail: null, again: [] }, request.now())
      } catch (error) {
        const { state, detail } = endedBy(error)
        return ended(mirror, num, { state, detail, again: [] }, null)
      } finally {
        file.close()
      }
    },
  }
  return source
}

function ended(mirror: Mirror, num: number, end: PassEnd, syncedAtMs: number | null): PassEnd {
  held.saveSourceState(mirror, num, end.state, end.detail, syncedAtMs)
  return end
}
