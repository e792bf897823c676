import type { ArchiveActs } from '../../api/http/archive-shapes.ts'
import type { ApiContext, LiveState } from '../../api/http/api-context.ts'
import type { Histories } from '../../git/histories.ts'
import { isDamage } from '../../mirror/maintenance/check-pages.ts'
import type { Settings } from '../../settings.ts'
import { readToken } from '../../engine/data-folder.ts'
import type { Estimation } from '../estimation/estimation.ts'
import type { EventHub } from './event-hub.ts'
import type { Indexing } from '../follow/indexing.ts'
import type { LazyReader } from './lazy-reader.ts'
import { asksForToken, type AllowedHosts } from './listen.ts'
import { stackWithoutText, type Logger } from '../lifecycle/log.ts'
import type { Purging } from '../../engine/purge/purging.ts'
import type { SearchPool } from '../../engine/search-pool.ts'

/** What of a daemon the HTTP side reads and asks. */
export interface ApiParts {
  readonly settings: Settings
  readonly world: { readonly version: string; zone(): string; now(): number }
  /** The mirror's. */
  readonly path: string
  readonly reader: LazyReader
  readonly log: Logger
  readonly hub: EventHub
  readonly indexing: Indexing
  readonly searches: SearchPool
  readonly histories: Histories
  readonly estimation: Estimation
  readonly purging: Purging
  readonly acts: ArchiveActs
  readonly startedAtMs: number
}

/** What the HTTP side is given: readings of the daemon, and the acts that it may ask for. */
export function apiWorlds(parts: ApiParts): (allowedHosts: AllowedHosts) => ApiContext {
  const { settings, world, indexing, searches, estimation } = parts
  const tokenRequired = asksForToken(settings)
  const token = tokenRequired ? readToken(settings.dataDir) : null
  const live = (): LiveState => ({
    state: indexing.state,
    reasons: indexing.reasons,
    uptimeMs: world.now() - parts.startedAtMs,
    progress: indexing.vitals.progress,
    wasAllRead: indexing.reading.wasAllRead,
    resources: indexing.vitals.resources([...searches.pids, ...estimation.pids]),
    lagMs: indexing.reading.lagMs,
    mirrorPath: parts.path,
    estimation: estimation.state,
  })
  return (allowedHosts): ApiContext => ({
    version: world.version,
    startedAt: new Date(parts.startedAtMs).toISOString(),
    timeZone: world.zone(),
    access: { token, tokenRequired, allowedHosts },
    mirror: () => parts.reader.open(),
    now: () => world.now(),
    ask: (question) => searches.ask(question),
    live,
    histories: parts.histories,
    sync: (options) => indexing.sync(options),
    importUsage: (file) => indexing.writer.importUsage(file),
    archives: parts.acts,
    purging: parts.purging,
    subscribe: (listener) => parts.hub.subscribe(listener),
    reportFault: (error) => {
      parts.log.error({ stack: stackWithoutText(error) }, 'a request failed')
      if (isDamage(error)) indexing.onDamage('none')
    },
  })
}
