import type { Command } from 'commander'
import type { z } from 'zod'
import { UserError } from '../model/user-error.ts'
import { demoSettings, loadSettings } from '../settings.ts'
import type { Settings, Surroundings } from '../settings.ts'
import { printableLine } from '../text/printable.ts'
import type { Answers } from './client/answers.ts'
import { statusLine } from './terminal/status-line.ts'
import type { StatusLine } from './terminal/status-line.ts'
import { inputOf } from './input/options.ts'
import { printTo } from './terminal/print.ts'
import { screenOf } from './terminal/screen.ts'
import type { Screen } from './terminal/screen.ts'
import type { World } from './world.ts'

/** The settings in force for a command, its flags among them. @throws UserError as `loadSettings` does */
export type SettingsOf = (command: Command) => Settings

/** Where a command was typed, and what is set there. */
export interface Place {
  readonly settingsOf: SettingsOf
  readonly workingDir: string
}

/** One run of the program: what its commands share. */
export interface Session {
  /** The words typed, the program's name not among them. */
  readonly argv: readonly string[]
  readonly version: string
  /** What the program was started in. */
  readonly surroundings: Surroundings
  readonly screen: Screen
  readonly stdin: AsyncIterable<Buffer | string>
  readonly print: (text: string) => Promise<void>
  /** To stderr: what is said about the output, and is none of it. */
  readonly note: (text: string) => Promise<void>
  /** On stderr: how far a long command is. */
  readonly progress: StatusLine
  readonly serve: (command: Command) => Promise<void>
  /** Serves a sample Cursor home, which is gone afterwards. */
  readonly demo: (command: Command) => Promise<void>
  readonly ask: (command: Command, question: (answers: Answers) => Promise<void>) => Promise<void>
}

export function openSession(world: World, argv: readonly string[], onSettings: (settings: Settings) => void): Session {
  const settingsOf: SettingsOf = (command) => {
    const settings = loadSettings(inputOf(world, command))
    onSettings(settings)
    return settings
  }
  const note = printTo(world.stderr)
  return {
    argv,
    version: world.version,
    surroundings: world,
    get stdin() {
      return world.stdin
    },
    screen: screenOf(world.stdout, world.env, () => world.timeZone),
    print: printTo(world.stdout),
    note,
    progress: statusLine(world.stderr, world.env, note),
    serve: (command) => world.serve(settingsOf(command)),
    demo: async (command) => {
      const { DemoStage } = await import('./demo-stage.ts')
      const stage = new DemoStage(printTo(world.stdout), world.workingDir ?? '/')
      try {
        const settings = demoSettings(inputOf(world, command), stage.folders)
        onSettings(settings)
        await world.serve(settings, stage)
      } finally {
        await stage.strike()
      }
    },
    ask: async (command, question) => {
      const answers = await world.openAnswers(settingsOf(command))
      try {
        await question(answers)
      } finally {
        // Also where it failed: what was not found may be among what is missing.
        const missing = answers.missing?.() ?? null
        if (missing !== null) await note(`${printableLine(missing)}\n`)
        await answers.close()
      }
    },
  }
}

/** An answer as a command needs it. @throws UserError `unexpected-answer` where it has another shape */
export function decodeAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const decoded = schema.safeParse(answer)
  if (decoded.success) return decoded.data
  throw new UserError(
    'unexpected-answer',
    `The answer has an unknown shape at ${decoded.error.issues[0]?.path.join('.') || 'its root'}.`,
    'The running daemon may be of another version: restart it.',
    { cause: decoded.error },
  )
}
