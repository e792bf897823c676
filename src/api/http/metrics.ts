import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { DaemonState, Status } from './schemas/status.ts'

const states: readonly DaemonState[] = ['starting', 'indexing', 'ready', 'degraded']
const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/**
 * Metrics for Prometheus: only our own, and never a project, a path, a title or a text. Names follow the conventions of
 * Prometheus, which `promtool check metrics` checks.
 */
export class Metrics {
  readonly contentType: string
  readonly #registry = new Registry()
  readonly #requests = this.#counter('cursordex_http_requests_total', 'Answered requests.', [
    'route',
    'method',
    'status',
  ])
  readonly #seconds = new Histogram({
    name: 'cursordex_http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [this.#registry],
  })
  readonly #deadlines = this.#counter(
    'cursordex_search_deadlines_total',
    'Searches that found nothing by their deadline.',
  )
  readonly #build = this.#gauge('cursordex_build_info', 'Always 1; the version is a label.', ['version'])
  readonly #state = this.#gauge('cursordex_state', '1 for the current state, 0 for the others.', ['state'])
  readonly #uptime = this.#gauge('cursordex_uptime_seconds', 'Time since the start.')
  readonly #lag = this.#gauge('cursordex_lag_seconds', 'Time from a commit in Cursor to its being searchable.')
  readonly #synced = this.#gauge('cursordex_source_last_sync_timestamp_seconds', 'Last read of a kind of source.', [
    'kind',
  ])
  readonly #rows = this.#gauge('cursordex_source_rows', 'Rows known of a kind of source.', ['kind'])
  readonly #unread = this.#gauge('cursordex_sources_not_ok', 'Sources of a kind that cannot be read.', ['kind'])
  readonly #counts = this.#gauge('cursordex_objects', 'Objects in the mirror.', ['kind'])
  readonly #issues = this.#gauge('cursordex_issues', 'Rows that could not be read, by reason.', ['reason'])
  readonly #losses = this.#gauge('cursordex_losses', 'What Cursor no longer has.', ['kind'])
  readonly #mirrorBytes = this.#gauge('cursordex_mirror_bytes', 'Size of the mirror on disk.')
  readonly #indexBytes = this.#gauge('cursordex_mirror_index_bytes', 'Size of the full-text index.')
  readonly #residentBytes = this.#gauge('cursordex_resident_bytes', 'Memory of the daemon and its processes.')
  readonly #waiting = this.#gauge('cursordex_estimates_pending', 'Messages whose tokens are not estimated yet.')
  readonly #archived = this.#gauge('cursordex_archive_last_run_timestamp_seconds', 'Newest archive.')
  readonly #failing = this.#gauge('cursordex_archive_jobs_failing', 'Archive jobs whose last run failed.')

  constructor() {
    this.contentType = this.#registry.contentType
  }

  /** @param route the pattern of the route, with no value in it */
  noteRequest(route: string, method: string, status: number, tookMs: number): void {
    this.#requests.inc({ route, method, status: String(status) })
    this.#seconds.observe({ route }, tookMs / 1000)
  }

  noteDeadline(): void {
    this.#deadlines.inc()
  }

  async render(status: Status): Promise<string> {
    this.#fill(status)
    return this.#registry.metrics()
  }

  #fill(status: Status): void {
    const { resources, lagMs, mirror, estimation, archives } = status
    this.#build.set({ version: status.version }, 1)
    for (const state of states) this.#state.set({ state }, Number(state === status.state))
    this.#uptime.set(status.uptimeMs / 1000)
    if (lagMs !== null) this.#lag.set(lagMs / 1000)
    this.#fillSources(status)
    for (const [kind, count] of Object.entries(status.counts)) this.#counts.set({ kind }, count)
    this.#issues.reset()
    for (const [reason, count] of Object.entries(status.issues)) this.#issues.set({ reason }, count)
    for (const [kind, count] of Object.entries(status.losses)) {
      if (typeof count === 'number') this.#losses.set({ kind }, count)
    }
    this.#mirrorBytes.set(mirror.bytes)
    if (mirror.ftsBytes !== null) this.#indexBytes.set(mirror.ftsBytes)
    this.#residentBytes.set(resources.rssBytes)
    if (estimation !== null && estimation.left !== null) this.#waiting.set(estimation.left)
    if (archives.lastRunAt !== null) this.#archived.set(Date.parse(archives.lastRunAt) / 1000)
    this.#failing.set(archives.failed.length)
  }

  #fillSources({ sources }: Status): void {
    for (const gauge of [this.#synced, this.#rows, this.#unread]) gauge.reset()
    for (const { kind, lastSyncAt, rows, state } of sources) {
      this.#rows.inc({ kind }, rows)
      this.#unread.inc({ kind }, Number(state !== 'ok' && state !== 'missing'))
      if (lastSyncAt !== null) this.#synced.set({ kind }, Date.parse(lastSyncAt) / 1000)
    }
  }

  #gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] })
  }

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] })
  }
}
