import { existsSync } from 'node:fs'
import { createApp } from '../../api/http/app.ts'
import { countEverything } from '../../api/queries/sources.ts'
import { openCommandEngine, type CommandContext } from '../../engine/command.ts'
import { mirrorPath, prepareDataFolder } from '../../engine/data-folder.ts'
import { misconfiguredFolders } from '../../engine/source-reasons.ts'
import { noteIfDamaged } from '../../mirror/damage/clean-mark.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Settings } from '../../settings.ts'
import { reasonText } from '../commands/status.ts'
import { answersOver, type Answers } from './client.ts'

const HOST = '127.0.0.1:0'

export interface InlineContext extends Omit<CommandContext, 'threads' | 'executor'> {
  /** Exists while a demo runs. */
  readonly demoDir?: string
}

/**
 * The answers without a daemon. What is new in Cursor is read first. Then the same HTTP app answers in this process.
 * @throws UserError `already-running` if a daemon owns the folder but did not answer
 */
export async function engineAnswers(settings: Settings, context: InlineContext): Promise<Answers> {
  const { note } = context
  process.umask(0o077)
  prepareDataFolder(settings.dataDir)
  const startedMs = performance.now()
  const path = mirrorPath(settings.dataDir)
  const command = openCommandEngine(settings, context)
  await command.catchUp()
  noteNoCursor(settings, command.reader.open(), context)
  const app = createApp(
    command.engine.api({
      access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
      live: () => ({
        state: command.reasons.length > 0 ? 'degraded' : 'ready',
        reasons: command.reasons,
        uptimeMs: Math.round(performance.now() - startedMs),
        progress: null,
        resources: {
          rssBytes: process.memoryUsage.rss(),
          cpuPercent: 0,
          longestReadMs: 0,
          bytesRead: 0,
        },
        lagMs: null,
        mirrorPath: path,
      }),
      subscribe: () => () => undefined,
      reportFault: (error) => noteIfDamaged(path, error),
    }),
  )
  const unreported = [...command.reasons]
  return {
    daemon: null,
    ...answersOver(async (to, init) => {
      if (!reportsReasons.test(to))
        for (const reason of unreported.splice(0)) note(`The mirror is not complete: ${reasonText(reason)}`)
      const headers = new Headers(init.headers)
      headers.set('host', HOST)
      return app.request(`http://${HOST}${to}`, { ...init, headers })
    }),
    close: () => command.close(),
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
