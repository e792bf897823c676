import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import { cached } from '../queries/snapshot.ts'
import { countEverything, EMPTY_CENSUS, type Counts, type Coverage } from '../queries/count-everything.ts'
import type { LossCounts } from '../queries/sources/list-losses.ts'
import { listSources, type SourceStatus } from '../queries/sources/list-sources.ts'
import { measureTermsBytes, measureTextBytes, measureMirrorBytes } from '../queries/measure-mirror.ts'
import type { ArchiveHealth } from './archive-shapes.ts'
import type { ApiContext, DaemonState, EstimationState, Progress, Resources } from './api-context.ts'

export interface Status {
  readonly state: DaemonState
  readonly reasons: readonly string[]
  readonly version: string
  readonly uptimeMs: number
  readonly progress: Progress | null
  readonly sources: readonly SourceStatus[]
  readonly counts: Counts
  readonly losses: LossCounts
  readonly issues: Readonly<Record<string, number>>
  readonly coverage: Coverage
  readonly mirror: { readonly path: string; readonly bytes: number; readonly ftsBytes: number }
  readonly resources: Resources & DiskUse
  readonly lagMs: number | null
  /** Null if tokens are not counted. */
  readonly estimation: EstimationState | null
  readonly archives: ArchiveHealth
}

interface DiskUse {
  /** About how many bytes of text are in the mirror. */
  readonly textBytes: number
  /** Bytes on disk per byte of text; null while the mirror has no text. */
  readonly diskPerTextByte: number | null
}

export type ReadStatus = () => Status

const TERMS_CACHE_MS = 60_000

/** Makes the reader behind `/status`, the page and the first event. They share one, and so its caches. */
export function createStatusReader(context: ApiContext): ReadStatus {
  const now = (): number => context.now()
  let census = cached(countEverything)
  let wasReady = false
  const termsBytes = cached(measureTermsBytes, TERMS_CACHE_MS)
  const textBytes = cached(measureTextBytes)
  return () => {
    const { mirrorPath, ...live } = context.live()
    const db = mirrorIfAny(context)
    // Counts made during the first pass are out of date when it ends, even if the cache would keep them.
    if (live.state === 'ready' && !wasReady) census = cached(countEverything)
    wasReady ||= live.state === 'ready'
    const { counts, losses, issues, coverage } = db === null ? EMPTY_CENSUS : census(db, now)
    const ftsBytes = db === null ? 0 : termsBytes(db, now)
    const bytes = measureMirrorBytes(mirrorPath)
    const disk = describeDisk(bytes, db === null ? 0 : textBytes(db, now))
    return {
      state: live.state,
      reasons: live.reasons,
      version: context.version,
      uptimeMs: live.uptimeMs,
      progress: live.progress,
      sources: db === null ? [] : listSources(db),
      counts,
      losses,
      issues,
      coverage,
      mirror: { path: mirrorPath, bytes, ftsBytes },
      resources: { ...live.resources, ...disk },
      lagMs: live.lagMs,
      estimation: live.estimation ?? null,
      archives: context.archives.health(),
    }
  }
}

const describeDisk = (bytes: number, textBytes: number): DiskUse => ({
  textBytes,
  diskPerTextByte: textBytes === 0 ? null : Math.round((bytes / textBytes) * 100) / 100,
})

/** Null if there is no mirror yet: a daemon that has just started must still report its status. */
function mirrorIfAny(context: ApiContext): Mirror | null {
  try {
    return context.mirror()
  } catch (error) {
    if (error instanceof UserError && error.code === 'mirror-missing') return null
    throw error
  }
}
