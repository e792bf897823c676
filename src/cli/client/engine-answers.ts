import { existsSync } from 'node:fs'
import { createApp } from '../../api/http/app.ts'
import { countEverything } from '../../api/queries/count-everything.ts'
import { mirrorPath, prepareDataFolder } from '../../engine/data-folder.ts'
import { openEngine } from '../../engine/engine.ts'
import { InlineExecutor } from '../../engine/executor/inline-executor.ts'
import { DirectPasses } from '../../engine/passes.ts'
import { misconfiguredFolders } from '../../engine/source-reasons.ts'
import { inlineWriter } from '../../engine/writer/inline-writer.ts'
import { noteIfDamaged } from '../../mirror/damage/clean-mark.ts'
import { openReader, type Mirror } from '../../mirror/open.ts'
import { disabledKindsOf, type Settings } from '../../settings.ts'
import { reasonText } from '../commands/status.ts'
import { answersOver, type Answers } from './answers.ts'

const HOST = '127.0.0.1:0'

export interface InlineContext {
  readonly version: string
  /** The machine's time zone. */
  readonly zone: () => string
  /** Prints a note, for example that reading takes long. */
  readonly note: (text: string) => void
  /** Exists while a demo runs. */
  readonly demoDir?: string
}

/**
 * The answers without a daemon. Cursor is read once, in this process. Then the same HTTP app answers from the mirror.
 * @throws UserError `already-running` if a daemon owns the folder but did not answer
 */
export async function engineAnswers(settings: Settings, context: InlineContext): Promise<Answers> {
  const { version, zone, note } = context
  process.umask(0o077)
  prepareDataFolder(settings.dataDir)
  const startedMs = performance.now()
  const path = mirrorPath(settings.dataDir)
  const places = {
    ...settings.cursor,
    disabledKinds: disabledKindsOf(settings),
    excludedProjects: settings.exclude.projects,
    isEstimating: settings.tokens.estimate,
  }
  const writer = inlineWriter({ mirrorPath: path, archiveDir: settings.archives.dir, ...places }, note)
  const passes = new DirectPasses(places, writer, writer.index)
  await passes.catchUp()
  const reader = openReader(path)
  noteNoCursor(settings, reader, context)
  const engine = openEngine(settings, new InlineExecutor(path, () => reader), {
    version,
    zone,
    now: Date.now,
    writer,
    passes,
    index: writer.index,
    mirror: () => reader,
    renewReaders: () => undefined,
    publish: () => undefined,
    log: () => undefined,
  })
  const app = createApp({
    ...engine.api(),
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    live: () => ({
      state: passes.reasons.length > 0 ? 'degraded' : 'ready',
      reasons: passes.reasons,
      uptimeMs: Math.round(performance.now() - startedMs),
      progress: null,
      resources: {
        rssBytes: process.memoryUsage.rss(),
        cpuPercent: 0,
        longestReadMs: 0,
        bytesRead: 0,
        bytesReadLastMinute: 0,
      },
      lagMs: null,
      mirrorPath: path,
    }),
    subscribe: () => () => undefined,
    reportFault: (error) => noteIfDamaged(path, error),
  })
  const unreported = [...passes.reasons]
  return {
    daemon: null,
    ...answersOver(async (to, init) => {
      if (!reportsReasons.test(to))
        for (const reason of unreported.splice(0)) note(`The mirror is not complete: ${reasonText(reason)}`)
      const headers = new Headers(init.headers)
      headers.set('host', HOST)
      return app.request(`http://${HOST}${to}`, { ...init, headers })
    }),
    close: async () => {
      await engine.close()
      reader.close()
    },
  }
}

/** These routes answer with the reasons themselves. */
const reportsReasons = /^\/api\/(?:status|sync)\b/

/** Prints why the mirror is empty if Cursor was not found. */
function noteNoCursor({ cursor }: Settings, reader: Mirror, { note, demoDir = '' }: InlineContext): void {
  const places = [...cursor.userDirs, ...cursor.homes]
  const warnings = misconfiguredFolders(cursor.userDirs)
  const isMissing = places.length > 0 && !places.some((place) => existsSync(place))
  // Counting a large mirror takes time, so not every command does it.
  if (warnings.length === 0 && !isMissing) return
  if (countEverything(reader).counts.messages > 0) return
  for (const sentence of warnings) note(sentence)
  if (!isMissing) return
  const demo = existsSync(demoDir)
    ? 'A demo is running; to search it, add --demo to this command.'
    : 'See it work without Cursor: cursordex demo.'
  note(`No Cursor found: looked in ${places.join(', ')}. Name its folder with --cursor-user-dir. ${demo}`)
}
