import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../model/user-error.ts'
import { demoSettings, loadSettings, demoLink, type Flags, type Settings, type Surroundings } from '../settings.ts'
import { printableJson, printableLine } from '../text/printable.ts'
import { RESTART, type Answers, type OpenAnswers } from './client/answers.ts'
import { printTo, screenOf, statusLine, type Output, type Screen, type StatusLine } from './terminal/screen.ts'
import { asksDemo, inputOf, type JsonOption } from './input/options.ts'
import type { Pager } from './terminal/pager.ts'
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
  /** Prints through a pager, if stdout is a terminal, `isWanted`, and there is a pager. */
  readonly paged: (isWanted: boolean, act: (print: Session['print']) => Promise<void>) => Promise<void>
  /** Progress of a long command, on stderr. */
  readonly progress: StatusLine
  /** @param change adapts the settings */
  readonly serve: (command: Command, change?: (settings: Settings) => Settings) => Promise<void>
  /** Serves a sample Cursor home, and removes it afterwards. */
  readonly demo: (command: Command) => Promise<void>
  readonly ask: (command: Command, question: (answers: Answers) => Promise<void>) => Promise<void>
}

/** @param named puts the commands in a note into the form in which the user types them */
export function openSession(
  world: World,
  argv: readonly string[],
  onSettings: (settings: Settings) => void,
  named: (text: string) => string,
): Session {
  const settingsOf: SettingsOf = (command) => {
    const settings = loadSettings(inputOf(world, command))
    onSettings(settings)
    return settings
  }
  const write = printTo(world.stderr)
  const note = (text: string): Promise<void> => write(named(text))
  const print = printTo(world.stdout)
  return {
    argv,
    version: world.version,
    surroundings: world,
    get stdin() {
      return world.stdin
    },
    screen: screenOf(world.stdout, world.env, () => world.timeZone, world.now()),
    print,
    note,
    paged: async (isWanted, act) => {
      if (!isWanted || world.stdout.isTTY !== true) return act(print)
      // Opened for the first text, so that an error without a text needs no pager.
      let opening: ReturnType<World['openPager']> | null = null
      try {
        await act(async (text) => {
          const pager = await (opening ??= world.openPager())
          await (pager?.print ?? print)(text)
        })
      } finally {
        const pager = await (opening as ReturnType<World['openPager']> | null)
        await pager?.close()
      }
    },
    progress: statusLine(world.stderr, world.env, note),
    serve: (command, change = (settings) => settings) => world.serve(change(settingsOf(command))),
    demo: async (command) => {
      const { DemoStage } = await import('./demo-stage.ts')
      const stage = new DemoStage(
        print,
        world.isCheckout === true ? (world.workingDir ?? '/') : null,
        demoLink(world.platform, world.env, world.homeDir),
      )
      try {
        const settings = demoSettings(inputOf(world, command), stage.folders)
        onSettings(settings)
        await world.serve(settings, stage)
      } finally {
        await stage.strike()
      }
    },
    ask: async (command, question) => {
      const settings = settingsOf(command)
      if (asksDemo(command) || !WRITES.has(command.name())) refuseMissingFolder(settings, world.env, command)
      const answers = await world.openAnswers(settings)
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

/** These commands may begin a new data folder. The others only read: a folder that does not exist is a mistake. */
const WRITES: ReadonlySet<string> = new Set(['sync', 'import', 'run', 'restore', 'mcp', 'pull'])

/** @throws UserError `no-data-folder`, exit code 2, if a flag or the environment names a folder that does not exist */
function refuseMissingFolder({ dataDir }: Settings, env: Surroundings['env'], command: Command): void {
  const isNamed = command.optsWithGlobals<Flags>().dataDir !== undefined || Boolean(env['CURSORDEX_DATA_DIR'])
  const isDemo = asksDemo(command)
  if (existsSync(dataDir) || !(isNamed || isDemo)) return
  const text = isDemo && !isNamed ? 'No demo is running.' : `The data folder ${dataDir} does not exist.`
  const hint =
    isDemo && !isNamed
      ? 'Start one with: cursordex demo'
      : 'Check its name. The daemon or "cursordex sync" makes a new one.'
  throw new UserError('no-data-folder', text, hint, { exitCode: 2 })
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

const isJsonWanted = (command: Command): boolean => command.optsWithGlobals<JsonOption>().json === true

/** For a command that only reads: with `--json` prints the answer as it came. @returns null if it was printed */
export async function readAnswer<T>(
  schema: z.core.$ZodType<T>,
  answer: unknown,
  command: Command,
  session: Session,
): Promise<T | null> {
  if (!isJsonWanted(command)) return decodeAnswer(schema, answer)
  await session.print(`${printableJson(answer)}\n`)
  return null
}

/** For a command that acts: prints the answer as it came with `--json`, else as text. @returns what was done */
export async function printAnswer<T>(
  schema: z.core.$ZodType<T>,
  answer: unknown,
  textOf: (decoded: T) => string,
  command: Command,
  session: Session,
): Promise<T> {
  const decoded = decodeAnswer(schema, answer)
  await session.print(isJsonWanted(command) ? `${printableJson(answer)}\n` : textOf(decoded))
  return decoded
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
  /** Null if there is none. Only asked for if stdout is a terminal. */
  readonly openPager: () => Promise<Pager | null>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly version: string
  /** Whether the program runs in a checkout, and not as an installed package. */
  readonly isCheckout?: boolean
}
