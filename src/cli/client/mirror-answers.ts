import { existsSync } from 'node:fs'
import { setImmediate as others } from 'node:timers/promises'
import { createApp } from '../../api/http/app.ts'
import { countEverything } from '../../api/queries/count-everything.ts'
import { answerQuestion } from '../../api/questions.ts'
import { startArchiveHere } from '../../engine/archive-here.ts'
import { archiveActs, makeArchives } from '../../engine/archives/make-archives.ts'
import { prepareDataFolder, mirrorPath } from '../../engine/data-folder.ts'
import { runPasses } from '../../engine/run-passes.ts'
import type { RestoreOrder, RestoreProgress, RestoreResult } from '../../engine/restore/restore-orders.ts'
import { RestoreSlices } from '../../engine/restore/restore-slices.ts'
import { takeUsageFile } from '../../engine/import-usage.ts'
import { runToCompletion } from '../../engine/run-to-completion.ts'
import { misconfiguredFolders } from '../../engine/misconfigured-folders.ts'
import { Histories } from '../../git/histories.ts'
import { openReader, type Mirror } from '../../mirror/open.ts'
import { realSurroundings } from '../../settings.ts'
import type { Settings } from '../../settings.ts'
import { withQuery } from './answers.ts'
import type { Answers } from './answers.ts'
import { withWriterLock } from './as-writer.ts'
import { CursorHere } from './cursor-here.ts'
import { errorOfProblem } from './problem.ts'
import { purgingHere } from './purge-here.ts'
import { reasonText } from '../commands/status.ts'

const HOST = '127.0.0.1:0'

export interface MirrorWorld {
  readonly version: string
  /** The machine's time zone. */
  zone(): string
  /** Hears of a pass that takes long. */
  note(text: string): void
}

/**
 * The same answers without a daemon: Cursor is read once, in this process, then the same app answers over the mirror.
 * @throws UserError `already-running` when a daemon owns the folder but did not answer
 */
export async function mirrorAnswers(settings: Settings, world: MirrorWorld): Promise<Answers> {
  process.umask(0o077)
  const { dataDir } = settings
  prepareDataFolder(dataDir)
  const startedAtMs = Date.now()
  const note = (text: string): void => world.note(text)
  const cursor = await CursorHere.read(settings, note)
  const reader = openReader(mirrorPath(dataDir))
  noteNoCursor(settings, reader, note)
  const histories = new Histories(realSurroundings().env)
  const { archives, archiveSchedule } = makeArchives({
    settings,
    world: { ...world, now: Date.now },
    path: mirrorPath(dataDir),
    start: startArchiveHere,
    restore: (order, onProgress) => restoreHere(settings, order, onProgress, note),
    tell: () => undefined,
    say: () => undefined,
  })
  const app = createApp({
    version: world.version,
    timeZone: world.zone(),
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => reader,
    now: Date.now,
    ask: (question) => Promise.resolve(answerQuestion(reader, question, settings.search.deadlineMs)),
    live: () => ({
      state: cursor.reasons.length > 0 ? 'degraded' : 'ready',
      reasons: cursor.reasons,
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
    histories,
    sync: ({ full }) => cursor.sync(full ? 'full' : 'reconcile'),
    importUsage: (file) => withWriterLock(settings, note, ({ db }) => takeUsageFile(db, file, Date.now())),
    archives: archiveActs(archives, archiveSchedule),
    purging: purgingHere(settings, archives, { catchUp: (depth) => cursor.sync(depth), note }),
    subscribe: () => () => undefined,
  })
  const unsaid = [...cursor.reasons]
  return {
    origin: 'mirror',
    ...exchanges(async (path, init) => {
      if (!tellsReasons.test(path))
        for (const reason of unsaid.splice(0)) note(`Not everything is as Cursor holds it: ${reasonText(reason)}`)
      const headers = new Headers(init.headers)
      headers.set('host', HOST)
      const response = await app.request(`http://${HOST}${path}`, { ...init, headers })
      if (response.status >= 400) throw errorOfProblem(response.status, path, await response.json())
      return response
    }),
    close: async () => {
      histories.close()
      reader.close()
    },
  }
}

/** What answers with the reasons for which not everything was read. */
const tellsReasons = /^\/api\/(?:status|sync)\b/

/** An empty answer is none where there is nothing to be asked about. */
function noteNoCursor({ cursor }: Settings, reader: Mirror, note: (text: string) => void): void {
  const places = [...cursor.userDirs, ...cursor.homes]
  const strays = misconfiguredFolders(cursor.userDirs)
  const isNowhere = places.length > 0 && !places.some((place) => existsSync(place))
  // To count takes the longer the more there is: not for every command.
  if (strays.length === 0 && !isNowhere) return
  if (countEverything(reader).counts.chats > 0) return
  for (const sentence of strays) note(sentence)
  if (!isNowhere) return
  note(
    `No Cursor found: looked in ${places.join(', ')}. Name its folder with --cursor-user-dir, or see it work without: npx cursordex demo.`,
  )
}

type Exchange = (path: string, init: RequestInit) => Promise<Response>

function exchanges(exchange: Exchange): Pick<Answers, 'get' | 'post' | 'text'> {
  return {
    get: async (path, query) => (await exchange(withQuery(path, query), {})).json(),
    post: async (path, body, mediaType) => {
      const headers = { 'content-type': mediaType ?? 'application/json' }
      const text = mediaType === undefined ? JSON.stringify(body) : (body as string)
      const sent = body === undefined ? {} : { headers, body: text }
      return (await exchange(path, { method: 'POST', ...sent })).json()
    },
    async *text(path, query) {
      const { body } = await exchange(withQuery(path, query), {})
      if (body !== null) yield* body.pipeThrough(new TextDecoderStream())
    },
  }
}

/** Brings back what an archive remembers; all of it can be found afterwards. */
function restoreHere(
  settings: Settings,
  order: RestoreOrder,
  onProgress: (progress: RestoreProgress) => void,
  note: (text: string) => void,
): Promise<RestoreResult> {
  return withWriterLock(settings, note, async (kept) => {
    const slices = new RestoreSlices({ mirror: () => kept.db, now: Date.now })
    try {
      let slice = await slices.work(order, SLICE_MS, onProgress)
      while (slice.result === null) {
        // Lets whoever shows how far it is at it.
        await others()
        slice = await slices.work(null, SLICE_MS, onProgress)
      }
      runToCompletion(runPasses(kept.db, NO_PLACES, { kind: 'run', sources: [], backlogMs: Infinity }, Date.now))
      return slice.result
    } finally {
      await slices.end()
    }
  })
}

const SLICE_MS = 100
const NO_PLACES = { userDirs: [], homes: [], disabledKinds: [] }
