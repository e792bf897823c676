import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../model/user-error.ts'
import { demoSettings, loadSettings, demoLink, type Flags, type Settings, type Surroundings } from '../settings.ts'
import { printableJson, printableLine } from '../text/printable.ts'
import { RESTART, type Answers, type OpenAnswers } from './client/answers.ts'
import { printTo, screenOf, statusLine, type Output, type Screen, type StatusLine } from './terminal/screen.ts'
import { asTyped } from './commands.ts'
import { asksDemo, inputOf, type JsonOption } from './input/options.ts'
import type { Pager } from './terminal/pager.ts'
import type { Companion } from './serve-forever.ts'

/** What the commands share in one run of the program. */
export class Session {
  /** The arguments, without the program's name. */
  readonly argv: readonly string[]
  readonly version: string
  /** What the program was started in. */
  readonly surroundings: Surroundings
  readonly workingDir: string
  readonly screen: Screen
  readonly print: (text: string) => Promise<void>
  /** Writes to stderr: notes about the output. */
  readonly note: (text: string) => Promise<void>
  /** Progress of a long command, on stderr. */
  readonly progress: StatusLine
  /** The settings of the command, as soon as they are read. */
  settings: Settings | null = null
  readonly #world: World

  constructor(world: World, argv: readonly string[]) {
    const write = printTo(world.stderr)
    this.#world = world
    this.argv = argv
    this.version = world.version
    this.surroundings = world
    this.workingDir = world.workingDir ?? '/'
    this.screen = screenOf(world.stdout, world.env, () => world.timeZone, world.now())
    this.print = printTo(world.stdout)
    this.note = (text) => write(this.named(text))
    this.progress = statusLine(world.stderr, world.env, this.note)
  }

  get stdin(): World['stdin'] {
    return this.#world.stdin
  }

  /** Puts the commands in a text into the form in which the user types them. */
  named(text: string): string {
    return asTyped(text, this.#world.isCheckout === true)
  }

  /** The settings for a command, including its flags. @throws UserError as `loadSettings` does */
  readonly settingsOf = (command: Command): Settings => (this.settings = loadSettings(inputOf(this.#world, command)))

  /** Prints through a pager, if stdout is a terminal, `isWanted`, and there is a pager. */
  async paged(isWanted: boolean, act: (print: Session['print']) => Promise<void>): Promise<void> {
    if (!isWanted || this.#world.stdout.isTTY !== true) return act(this.print)
    // Opened for the first text, so that an error without a text needs no pager.
    const opened: Promise<Pager | null>[] = []
    try {
      await act(async (text) => {
        if (opened.length === 0) opened.push(this.#world.openPager())
        const pager = await opened[0]
        await (pager?.print ?? this.print)(text)
      })
    } finally {
      const pager = await opened[0]
      await pager?.close()
    }
  }

  /** @param change adapts the settings */
  async serve(command: Command, change = (settings: Settings) => settings): Promise<void> {
    await this.#world.serve(change(this.settingsOf(command)))
  }

  /** Serves a sample Cursor home, and removes it afterwards. */
  async demo(command: Command): Promise<void> {
    const { DemoStage } = await import('./demo-stage.ts')
    const { platform, env, homeDir, isCheckout } = this.#world
    const link = demoLink(platform, env, homeDir)
    const stage = new DemoStage(this.print, isCheckout === true ? this.workingDir : null, link)
    try {
      this.settings = demoSettings(inputOf(this.#world, command), stage.folders)
      await this.#world.serve(this.settings, stage)
    } finally {
      await stage.strike()
    }
  }

  async ask(command: Command, question: (answers: Answers) => Promise<void>): Promise<void> {
    const settings = this.settingsOf(command)
    if (asksDemo(command) || !WRITES.has(command.name())) refuseMissingFolder(settings, this.surroundings.env, command)
    const answers = await this.#world.openAnswers(settings)
    try {
      await question(answers)
    } finally {
      // Also after an error: something that was not found may be among the missing data.
      const missing = answers.missing?.() ?? null
      if (missing !== null) await this.note(`${printableLine(missing)}\n`)
      await answers.close()
    }
  }
}

/** For commands that need no more than the settings and the working directory. */
export type Place = Pick<Session, 'settingsOf' | 'workingDir'>

/** These commands may begin a new data folder. The others only read: a folder that does not exist is a mistake. */
const WRITES: ReadonlySet<string> = new Set(['sync', 'import', 'run', 'restore', 'mcp', 'pull'])

/** @throws UserError `no-data-folder`, exit code 2, if a flag or the environment names a folder that does not exist */
function refuseMissingFolder({ dataDir }: Settings, env: Surroundings['env'], command: Command): void {
  const isNamed = command.optsWithGlobals<Flags>().dataDir !== undefined || Boolean(env['CURSORDEX_DATA_DIR'])
  if (existsSync(dataDir) || !(isNamed || asksDemo(command))) return
  const [text, hint] = isNamed
    ? [`The data folder ${dataDir} does not exist.`, 'Check its name. The daemon or "cursordex sync" makes a new one.']
    : ['No demo is running.', 'Start one with: cursordex demo']
  throw new UserError('no-data-folder', text, hint, { exitCode: 2 })
}

/** Checks the shape of an answer. @throws UserError `unexpected-answer` */
export function decodeAnswer<T>(schema: z.core.$ZodType<T>, answer: unknown): T {
  const decoded = z.safeParse(schema, answer)
  if (decoded.success) return decoded.data
  const text = `The answer has an unexpected shape at ${decoded.error.issues[0]?.path.join('.') || 'its root'}.`
  const hint = `The running daemon may have another version. ${RESTART}`
  throw new UserError('unexpected-answer', text, hint, { cause: decoded.error })
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
