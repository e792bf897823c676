import { readFileSync } from 'node:fs'
import { realSurroundings } from '../settings.ts'
import { daemonAnswers } from './client.ts'
import { mirrorAnswers } from './mirror-answers.ts'
import { serveForever } from './serve-forever.ts'
import type { World } from './world.ts'

/** The world the program runs in when a person starts it. */
export function realWorld(): World {
  const { stdout, stderr } = process
  const version = installedVersion()
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const note = (text: string): void => {
    stderr.write(`${text}\n`)
  }
  return {
    ...realSurroundings(),
    openAnswers: async (settings) =>
      (await daemonAnswers(settings.dataDir)) ?? mirrorAnswers(settings, { version, timeZone, note }),
    serve: (settings) => serveForever(settings, { version, timeZone, stdout, stderr, now: Date.now }),
    stdout,
    stderr,
    timeZone,
    version,
  }
}

function installedVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String((JSON.parse(text) as { version: unknown }).version)
}
