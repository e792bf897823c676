import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Status } from '../answers/status.ts'

type Source = Status['sources'][number]
type Values = readonly (readonly [label: string, value: number | null])[]

const seconds = (at: string | null): number | null => (at === null ? null : Date.parse(at) / 1000)
const one = (value: number | null): Values => [['', value]]
const several = (values: object): Values => Object.entries(values).filter(([, value]) => typeof value === 'number')
const ofSources = ({ sources }: Status, read: (source: Source) => number | null): Values =>
  sources.map((source) => [source.kind, read(source)])
const isUnread = ({ state }: Source): number => Number(state !== 'ok' && state !== 'missing')

/** Name without its prefix, help, label or '', values. Values of one label are added up, and unknown ones are not shown. */
const gauges: readonly (readonly [string, string, string, (status: Status) => Values])[] = [
  ['build_info', 'Always 1; the version is a label.', 'version', ({ version }) => [[version, 1]]],
  ['state', '1 for the current state.', 'state', ({ state }) => [[state, 1]]],
  ['uptime_seconds', 'Time since the start.', '', ({ uptimeMs }) => one(uptimeMs / 1000)],
  ['lag_seconds', 'From a commit in Cursor until it is found.', '', ({ lagMs }) => one(lagMs && lagMs / 1000)],
  ['source_rows', 'Rows known of a kind of source.', 'kind', (status) => ofSources(status, ({ rows }) => rows)],
  ['sources_not_ok', 'Sources of a kind that cannot be read.', 'kind', (status) => ofSources(status, isUnread)],
  ['objects', 'Objects in the mirror.', 'kind', ({ counts }) => several(counts)],
  ['issues', 'Rows that could not be read, by reason.', 'reason', ({ issues }) => several(issues)],
  ['losses', 'What Cursor no longer has.', 'kind', ({ losses }) => several(losses)],
  ['mirror_bytes', 'Size of the mirror on disk.', '', ({ mirror }) => one(mirror.bytes)],
  ['mirror_index_bytes', 'Size of the full-text index.', '', ({ mirror }) => one(mirror.ftsBytes)],
  ['resident_bytes', 'Memory of the daemon and its processes.', '', ({ resources }) => one(resources.rssBytes)],
  ['archive_last_run_timestamp_seconds', 'Newest archive.', '', ({ archives }) => one(seconds(archives.lastRunAt))],
  ['archive_jobs_failing', 'Jobs whose last run failed.', '', ({ archives }) => one(archives.failed.length)],
]

/** Metrics for Prometheus: only our own, and never a project, a path, a title or a text. */
export class Metrics {
  readonly #registry = new Registry()
  readonly contentType = this.#registry.contentType
  readonly #requests = new Counter(
    this.#named('http_requests_total', 'Answered requests.', 'route', 'method', 'status'),
  )
  readonly #seconds = new Histogram(this.#named('http_request_duration_seconds', 'Time to answer.', 'route'))
  readonly #deadlines = new Counter(this.#named('search_deadlines_total', 'Searches that did not end in time.'))
  readonly #synced = new Gauge(this.#named('source_last_sync_timestamp_seconds', 'Last read of a kind.', 'kind'))
  readonly #gauges = gauges.map(
    ([name, help, label]) => new Gauge(this.#named(name, help, ...(label === '' ? [] : [label]))),
  )

  /** @param route the pattern of the route, with no value in it */
  noteRequest(route: string, method: string, status: number, tookMs: number): void {
    this.#requests.inc({ route, method, status: String(status) })
    this.#seconds.observe({ route }, tookMs / 1000)
    if (route === '/api/search' && status === 503) this.#deadlines.inc()
  }

  async render(status: Status): Promise<string> {
    for (const [at, [, , label, read]] of gauges.entries()) {
      const gauge = this.#gauges[at]
      gauge?.reset()
      for (const [name, value] of read(status))
        if (value !== null) gauge?.inc(label === '' ? {} : { [label]: name }, value)
    }
    for (const { kind, lastSyncAt } of status.sources)
      if (lastSyncAt) this.#synced.set({ kind }, seconds(lastSyncAt) ?? 0)
    return this.#registry.metrics()
  }

  #named(name: string, help: string, ...labelNames: string[]) {
    return { name: `cursordex_${name}`, help, labelNames, registers: [this.#registry] }
  }
}
