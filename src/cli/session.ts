import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { UserError } from '../model/user-error.ts'
import { demoSettings, loadSettings, demoLink, type Flags, type Settings, type Surroundings } from '../settings.ts'
import { printable, printableJson, printableLine } from '../text/printable.ts'
import type { Answers, OpenAnswers } from './client/client.ts'
import { printTo, screenOf, type Output, type Pager, type Screen } from './terminal/screen.ts'
import { asTyped, ofDemo } from './commands.ts'
import { addExamples, asksDemo, inputOf, refuseEmpty, wantsJson } from './input/options.ts'
import { wrapLine } from './terminal/text.ts'
import type { Companion } from './serve-forever.ts'

/** What the commands share in one run of the program. */
export class Session {
  /** The arguments, without the program's name. */
  readonly argv: readonly string[]
  /** What the program was started in. */
  readonly world: World
  readonly workingDir: string
  readonly screen: Screen
  readonly print: (text: string) => Promise<void>
  /** Writes to stderr: notes about the output. */
  readonly note: (text: string) => Promise<void>
  /** The settings of the command, as soon as they are read. */
  settings: Settings | null = null
  /** Of a run without an error: 1 if what was looked for was not found. */
  exitCode: 0 | 1 = 0

  constructor(world: World, argv: readonly string[]) {
    const write = printTo(world.stderr)
    this.world = world
    this.argv = argv
    this.workingDir = world.workingDir ?? '/'
    this.screen = screenOf(world.stdout, world.env, () => world.timeZone, world.now())
    this.print = printTo(world.stdout)
    const width = world.stderr.isTTY === true ? (world.stderr.columns ?? 80) : this.screen.width
    this.note = (text) => write(wrapLines(this.named(text), width ?? Infinity))
  }

  /** Puts the commands in a text into the form in which the user types them. */
  named(text: string): string {
    return asTyped(this.argv.includes('--demo') ? ofDemo(text) : text, this.world.isCheckout === true)
  }

  /** The settings for a command, including its flags. @throws UserError as `loadSettings` and `refuseEmpty` do */
  settingsOf(command: Command): Settings {
    refuseEmpty(command)
    return (this.settings = loadSettings(inputOf(this.world, command)))
  }

  /** Prints an answer as it came with `--json`, else as a text, or as lines of any text. */
  async printAnswer<Answer>(
    command: Command,
    answer: Answer,
    textOf: (answer: Answer) => string | readonly string[],
  ): Promise<void> {
    if (wantsJson(command)) return this.printJson(answer)
    const text = textOf(answer)
    await this.show(typeof text === 'string' ? text : text.map((line) => `${printableLine(line)}\n`).join(''))
  }

  /** Prints an answer as it came. */
  async printJson(answer: unknown): Promise<void> {
    await this.print(`${printableJson(answer)}\n`)
  }

  /** Prints a text; through a pager, if there is one, where it has more lines than the terminal. */
  async show(text: string, isPaged = true): Promise<void> {
    const isLong = text.split('\n').length > this.screen.height
    const pager = isPaged && isLong ? await this.world.openPager() : null
    try {
      await (pager?.print ?? this.print)(text)
    } finally {
      await pager?.close()
    }
  }

  /** @param change adapts the settings */
  async serve(command: Command, change = (settings: Settings) => settings): Promise<void> {
    await this.world.serve(change(this.settingsOf(command)))
  }

  /** Serves a sample Cursor home, and removes it afterwards. */
  async demo(command: Command): Promise<void> {
    const { DemoStage } = await import('./demo-stage.ts')
    const { platform, env, homeDir } = this.world
    const stage = new DemoStage((text) => this.print(this.named(text)), demoLink(platform, env, homeDir))
    try {
      this.settings = demoSettings(inputOf(this.world, command), stage.folders)
      await this.world.serve(this.settings, stage)
    } finally {
      await stage.strike()
    }
  }

  /**
   * Lets a command ask, and gives its help two examples.
   * @param act also gets the arguments of the command, and then its options
   */
  asks(
    command: Command,
    examples: readonly [string, string],
    act: (answers: Answers, ...words: never[]) => Promise<void>,
  ): Command {
    command.action((...words: unknown[]) => this.ask(command, (answers) => act(answers, ...(words as never[]))))
    return addExamples(command, ...examples)
  }

  async ask(command: Command, question: (answers: Answers) => Promise<void>): Promise<void> {
    const settings = this.settingsOf(command)
    if (asksDemo(command) || !WRITES.has(command.name())) refuseMissingFolder(settings, this.world.env, command)
    const note = (text: string): unknown => this.note(`${printable(text)}\n`).catch(() => undefined)
    const answers = await this.world.openAnswers(settings, note)
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

const wrapLines = (text: string, width: number): string =>
  width === Infinity ? text : text.replaceAll(/[^\n]+/g, (line) => wrapLine(line, width).join('\n'))

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
