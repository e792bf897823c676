import type { ArchiveActs } from '../../api/http/archive-shapes.ts'
import type { Settings } from '../../settings.ts'
import { ArchiveSchedule } from './archive-schedule.ts'
import { ARCHIVE } from '../../mirror/sources/source-ranks.ts'
import { Archives, type ArchivesWorld } from './archives.ts'

interface Parts extends Pick<ArchivesWorld, 'start' | 'restore' | 'tell' | 'say'> {
  readonly settings: Settings
  readonly world: { readonly version: string; zone(): string; now(): number }
  /** The mirror's. */
  readonly path: string
}

interface Made {
  readonly archives: Archives
  readonly archiveSchedule: ArchiveSchedule
}

/** The archives of a mirror, and when they are made. */
export function makeArchives({ settings, world, path, ...acts }: Parts): Made {
  const { dataDir, archives: of } = settings
  const now = (): number => world.now()
  const canRestore = settings.sources[ARCHIVE]?.enabled ?? true
  const zone = (): string => world.zone()
  const setup = { dir: of.dir, dataDir, mirrorPath: path, version: world.version, canRestore }
  const archives = new Archives(setup, { ...acts, now })
  const warn = (sentence: string): void => acts.say('error', sentence)
  return { archives, archiveSchedule: new ArchiveSchedule(of.jobs, { now, archives, zone, warn }) }
}

/** What the HTTP side may ask of them. */
export const archiveActs = (archives: Archives, schedule: ArchiveSchedule): ArchiveActs => ({
  run: (scope, timeZone) => archives.run(scope, timeZone),
  list: () => archives.list(),
  get: (name) => archives.get(name),
  verify: (name, share) => archives.verify(name, share),
  restore: (request) => archives.restore(request),
  health: () => schedule.health,
})
