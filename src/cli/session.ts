import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../model/user-error.ts'
import { demoSettings, loadSettings, type Settings, type Surroundings } from '../settings.ts'
import { printableLine } from '../text/printable.ts'
import { RESTART, type Answers, type OpenAnswers } from './client/answers.ts'
import { statusLine, type StatusLine, printTo } from './terminal/print.ts'
import { inputOf } from './input/options.ts'
import { screenOf, type Screen, type Output } from './terminal/screen.ts'
import type { Companion } from './serve-forever.ts'

/** The settings for a command, including its flags. @throws UserError as `loadSettings` does */
export type SettingsOf = (command: Command) => Settings

/** The working directory, and the settings there. */
export interface Place {
  readonly settingsOf: SettingsOf
  readonly workingDir: string
}

/** What the commands share in one run of the program. */
export interface Session {
  /** The arguments, without the program's name. */
  readonly argv: readonly string[]
  readonly version: string
  /** What the program was started in. */
  readonly surroundings: Surroundings
  readonly screen: Screen
  readonly stdin: AsyncIterable<Buffer | string>
  readonly print: (text: string) => Promise<void>
  /** Writes to stderr: notes about the output. */
  readonly note: (text: string) => Promise<void>
  /** Progress of a long command, on stderr. */
  readonly progress: StatusLine
  readonly serve: (command: Command) => Promise<void>
  /** Serves a sample Cursor home, and removes it afterwards. */
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
        // Also after an error: something that was not found may be among the missing data.
        const missing = answers.missing?.() ?? null
        if (missing !== null) await note(`${printableLine(missing)}\n`)
        await answers.close()
      }
    },
  }
}

/** Checks the shape of an answer. @throws UserError `unexpected-answer` */
export function decodeAnswer<T>(schema: z.core.$ZodType<T>, answer: unknown): T {
  const decoded = z.safeParse(schema, answer)
  if (decoded.success) return decoded.data
  throw new UserError(
    'unexpected-answer',
    `The answer has an unexpected shape at ${decoded.error.issues[0]?.path.join('.') || 'its root'}.`,
    `The running daemon may have another version. ${RESTART}`,
    { cause: decoded.error },
  )
}

/** Everything outside the program that the command line uses. */
export interface World extends Surroundings {
  readonly openAnswers: OpenAnswers
  /** Runs the daemon, and a companion if there is one, in the foreground until a signal stops it. */
  readonly serve: (settings: Settings, companion?: Companion) => Promise<void>
  readonly stdin: AsyncIterable<Buffer | string>
  readonly stdout: Output
  readonly stderr: Output
  /** IANA name of the zone for shown times. */
  readonly timeZone: string
  readonly version: string
}
