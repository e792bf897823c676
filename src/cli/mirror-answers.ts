import { join } from 'node:path'
import { createApp } from '../api/http/app.ts'
import { search } from '../api/search/search.ts'
import { prepareDataFolder, mirrorPath } from '../daemon/data-folder.ts'
import type { RunOutcome } from '../daemon/ingest-messages.ts'
import { runPasses } from '../daemon/ingest-run.ts'
import { takeLock } from '../daemon/lock.ts'
import { keepCopiesIn, removeCopies } from '../indexer/checked-copy.ts'
import { discoverSources } from '../indexer/discover.ts'
import type { PassDepth } from '../indexer/source.ts'
import { openReader, openWriter } from '../mirror/open.ts'
import { Trouble } from '../model/trouble.ts'
import type { Settings } from '../settings.ts'
import { withQuery } from './answers.ts'
import type { Answers } from './answers.ts'
import { troubleOfProblem } from './problem.ts'

const HOST = '127.0.0.1:0'

export interface MirrorWorld {
  readonly version: string
  readonly timeZone: string
  /** Hears of a pass that takes long. */
  note(text: string): void
}

/**
 * The same answers without a daemon: Cursor is read once, in this process, then the same app answers over the mirror.
 * @throws Trouble `already-running` when a daemon owns the folder but did not answer
 */
export async function mirrorAnswers(settings: Settings, world: MirrorWorld): Promise<Answers> {
  process.umask(0o077)
  const { dataDir } = settings
  prepareDataFolder(dataDir)
  const startedAtMs = Date.now()
  const catchUp = (depth: PassDepth): RunOutcome => runOnce(settings, depth, (text) => world.note(text))
  const ends = catchUp('nudge').ends.filter(({ state }) => state !== 'ok' && state !== 'missing')
  const reader = openReader(mirrorPath(dataDir))
  const app = createApp({
    version: world.version,
    timeZone: world.timeZone,
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => reader,
    now: Date.now,
    search: (request) => Promise.resolve(search(reader, { ...request, deadlineMs: settings.search.deadlineMs })),
    live: () => ({
      state: ends.length > 0 ? 'degraded' : 'ready',
      reasons: ends.map(({ state, path, detail }) => `${state}: ${path}${detail === null ? '' : `: ${detail}`}`),
      uptimeMs: Date.now() - startedAtMs,
      progress: null,
      resources: {
        rssBytes: process.memoryUsage.rss(),
        cpuPercent: 0,
        longestReadMs: 0,
        bytesRead: 0,
        bytesReadLastMinute: 0,
      },
      lagMs: null,
      mirrorPath: mirrorPath(dataDir),
    }),
    sync: async ({ full }) => {
      const startedAt = performance.now()
      const { changed, added, gone } = catchUp(full ? 'full' : 'reconcile')
      return { changed, added, gone, tookMs: Math.round(performance.now() - startedAt) }
    },
    subscribe: () => () => undefined,
  })
  return {
    origin: 'mirror',
    ...exchanges(async (path, init) => {
      const headers = new Headers(init.headers)
      headers.set('host', HOST)
      const response = await app.request(`http://${HOST}${path}`, { ...init, headers })
      if (response.status >= 400) throw troubleOfProblem(response.status, await response.json())
      return response
    }),
    close: async () => {
      reader.close()
    },
  }
}

type Exchange = (path: string, init: RequestInit) => Promise<Response>

function exchanges(exchange: Exchange): Pick<Answers, 'get' | 'post' | 'text'> {
  return {
    get: async (path, query) => (await exchange(withQuery(path, query), {})).json(),
    post: async (path, body) => {
      const headers = { 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
      return (await exchange(path, { method: 'POST', ...sent })).json()
    },
    async *text(path, query) {
      const { body } = await exchange(withQuery(path, query), {})
      if (body !== null) yield* body.pipeThrough(new TextDecoderStream())
    },
  }
}

/** Short, for nothing else happens in this process meanwhile; whoever asks may try again. */
const LOCK_WAIT_MS = 250

/** Holds the daemon's lock while it writes: the mirror has one writer at any time. */
function runOnce(settings: Settings, depth: PassDepth, note: (text: string) => void): RunOutcome {
  const disabledKinds = Object.entries(settings.sources).flatMap(([kind, { enabled }]) => (enabled ? [] : [kind]))
  const { userDirs, homes } = settings.cursor
  const places = { userDirs, homes, disabledKinds }
  const lock = takeLock(settings.dataDir, LOCK_WAIT_MS)
  try {
    const mirror = openWriter(mirrorPath(settings.dataDir))
    keepCopiesIn(join(settings.dataDir, 'copies'))
    try {
      const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
      const passes = runPasses(mirror, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
      const startedAtMs = Date.now()
      let hasNoted = false
      for (let next = passes.next(); ; next = passes.next()) {
        if (next.done === true) return next.value
        if (hasNoted || Date.now() - startedAtMs < 1000) continue
        hasNoted = true
        note('Reading Cursor first; run "cursordex serve" to have this done in the background.')
      }
    } finally {
      removeCopies()
      mirror.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code) === 'SQLITE_FULL') {
      throw new Trouble('disk-full', `The disk that holds ${settings.dataDir} is full.`, 'Make room and try again.', {
        cause: error,
      })
    }
    throw error
  } finally {
    lock.release()
  }
}
