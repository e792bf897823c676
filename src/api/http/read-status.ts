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
  /** Null where nobody counts tokens. */
  readonly estimation: EstimationState | null
  readonly archives: ArchiveHealth
}

interface DiskUse {
  /** About how many bytes of text the mirror holds. */
  readonly textBytes: number
  /** What the mirror takes on the disk for each byte of text; null while it holds none. */
  readonly diskPerTextByte: number | null
}

export type ReadStatus = () => Status

const TERMS_KEPT_MS = 60_000

/** The question behind `/status`, the page and the first event: one, so that all three share what is kept of it. */
export function createStatusReader(world: ApiContext): ReadStatus {
  const now = (): number => world.now()
  let census = cached(countEverything)
  let wasReady = false
  const termsBytes = cached(measureTermsBytes, TERMS_KEPT_MS)
  const textBytes = cached(measureTextBytes)
  return () => {
    const { mirrorPath, ...live } = world.live()
    const db = mirrorIfAny(world)
    // What was counted while the first pass went on, however slowly, is not what is held when it is done.
    if (live.state === 'ready' && !wasReady) census = cached(countEverything)
    wasReady ||= live.state === 'ready'
    const { counts, losses, issues, coverage } = db === null ? EMPTY_CENSUS : census(db, now)
    const ftsBytes = db === null ? 0 : termsBytes(db, now)
    const bytes = measureMirrorBytes(mirrorPath)
    const disk = describeDisk(bytes, db === null ? 0 : textBytes(db, now))
    return {
      state: live.state,
      reasons: live.reasons,
      version: world.version,
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
      archives: world.archives.health(),
    }
  }
}

const describeDisk = (bytes: number, textBytes: number): DiskUse => ({
  textBytes,
  diskPerTextByte: textBytes === 0 ? null : Math.round((bytes / textBytes) * 100) / 100,
})

/** A daemon that has just started has no mirror yet, and still tells how it is. */
function mirrorIfAny(world: ApiContext): Mirror | null {
  try {
    return world.mirror()
  } catch (error) {
    if (error instanceof UserError && error.code === 'mirror-missing') return null
    throw error
  }
}
