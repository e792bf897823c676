import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { UserError } from '../model/user-error.ts'
import { demoLink, realSurroundings, type Settings } from '../settings.ts'
import { asTyped } from './commands.ts'
import type { Answers } from './client/client.ts'
import { localTimeZone, openPager } from './terminal/screen.ts'
import type { InlineContext } from './client/engine-answers.ts'
import type { World } from './session.ts'

/**
 * The context of the program when a person starts it.
 * @param earlyThread the daemon's writer thread, if it was started before anything else
 */
export function processContext(earlyThread: Promise<Worker> | null): World {
  const { stdout, stderr } = process
  const version = installedVersion()
  const surroundings = realSurroundings()
  const { platform, env, homeDir } = surroundings
  const demoDir = demoLink(platform, env, homeDir)
  return {
    ...surroundings,
    openAnswers: (settings, note) => openAnswers(settings, { version, zone: localTimeZone, note, demoDir }),
    serve: async (settings, companion) => {
      const { startWriterThread } = await import('../engine/start-writer-thread.ts')
      const writerThread = await (earlyThread ?? startWriterThread())
      const { serveForever } = await import('./serve-forever.ts')
      const machine = { version, zone: localTimeZone, writerThread, pageDir: PAGE_DIR }
      await serveForever(settings, { ...machine, asTyped: (text) => asTyped(text, isCheckout) }, companion)
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
    isCheckout,
    now: Date.now,
    openPager: () => openPager(env),
  }
}

/** Packages are installed in a folder `node_modules`. */
const isCheckout = !/[/\\]node_modules[/\\]/.test(fileURLToPath(import.meta.url))

/** Found from the program's own place, like `package.json`: this file is one folder deep, in `src` and in `dist`. */
const PAGE_DIR = fileURLToPath(new URL('../../dist/web/', import.meta.url))

/** How long a command waits for the lock: a starting daemon may have it, or a command that reads Cursor. */
const LOCK_WAIT_MS = 30_000

/** A daemon that has the lock and does not answer may be starting or busy, so it is asked again before each attempt. */
async function openAnswers(settings: Settings, context: InlineContext): Promise<Answers> {
  const { daemonAnswers } = await import('./client/client.ts')
  const endAtMs = Date.now() + LOCK_WAIT_MS
  for (;;) {
    const answers = await daemonAnswers(settings.dataDir)
    if (answers !== null) {
      const version = answers.daemon?.version ?? context.version
      if (version !== context.version) {
        const remedy = 'Restart the daemon: cursordex service restart.'
        context.note(`The daemon has version ${version}, and this command has ${context.version}. ${remedy}`)
      }
      return answers
    }
    try {
      const { engineAnswers } = await import('./client/engine-answers.ts')
      return await engineAnswers(settings, context)
    } catch (error) {
      const isHeld = error instanceof UserError && error.code === 'already-running'
      if (!isHeld || Date.now() > endAtMs) throw error
    }
  }
}

function installedVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String((JSON.parse(text) as { version: unknown }).version)
}
