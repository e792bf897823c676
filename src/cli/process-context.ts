import { readFileSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { UserError } from '../model/user-error.ts'
import { realSurroundings } from '../settings.ts'
import type { Settings } from '../settings.ts'
import type { Answers } from './client/answers.ts'
import { localTimeZone } from './terminal/local-time-zone.ts'
import type { InlineContext } from './client/engine-answers.ts'
import { printable } from '../text/printable.ts'
import type { World } from './world.ts'

/**
 * The world the program runs in when a person starts it.
 * @param earlyThread the daemon's writer thread, if it was started before anything else
 */
export function processContext(earlyThread: Promise<Worker> | null): World {
  const { stdout, stderr } = process
  const version = installedVersion()
  const note = (text: string): void => {
    // It may name a folder of Cursor's, or tell what stands in it.
    stderr.write(`${printable(text)}\n`)
  }
  return {
    ...realSurroundings(),
    openAnswers: (settings) => openAnswers(settings, { version, zone: localTimeZone, note }),
    serve: async (settings, companion) => {
      const writerThread = await (earlyThread ?? startThread())
      const { serveForever } = await import('./serve-forever.ts')
      const daemon = { version, zone: localTimeZone, stdout, stderr, writerThread, now: Date.now }
      await serveForever(settings, daemon, companion)
    },
    get stdin() {
      return process.stdin
    },
    stdout,
    stderr,
    get timeZone() {
      return localTimeZone()
    },
    version,
  }
}

async function startThread(): Promise<Worker> {
  const { startWriterThread } = await import('../engine/start-writer-thread.ts')
  return startWriterThread()
}

/** How long a command waits for whoever holds the lock: a daemon that starts, or a command that reads Cursor itself. */
const LOCK_WAIT_MS = 30_000

/** So often in a row one that began long ago gives no answer, a second each, before it is told: it may be busy. */
const SILENCES_MAX = 5

/** A daemon that holds the lock and does not answer yet may be starting: it is asked again before each try. */
async function openAnswers(settings: Settings, world: InlineContext): Promise<Answers> {
  const { daemonAnswers, findSilentDaemon } = await import('./client/client.ts')
  const endAtMs = Date.now() + LOCK_WAIT_MS
  for (let silences = 0; ;) {
    const answers = await daemonAnswers(settings.dataDir)
    if (answers !== null) return answers
    try {
      const { engineAnswers } = await import('./client/engine-answers.ts')
      return await engineAnswers(settings, world)
    } catch (error) {
      const isHeld = error instanceof UserError && error.code === 'already-running'
      if (!isHeld || Date.now() > endAtMs) throw error
    }
    const silent = await findSilentDaemon(settings.dataDir)
    silences = silent === null ? 0 : silences + 1
    if (silent !== null && silences >= SILENCES_MAX) throw daemonSilent(settings.dataDir, silent)
  }
}

const daemonSilent = (dataDir: string, pid: number): UserError =>
  new UserError(
    'daemon-silent',
    `The daemon of the data folder ${dataDir} (process ${pid}) runs and does not answer.`,
    'It may be suspended, or very busy: try again, or end that process and start it anew.',
    { exitCode: 3 },
  )

function installedVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String((JSON.parse(text) as { version: unknown }).version)
}
