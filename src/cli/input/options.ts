import { InvalidArgumentError, type Command } from 'commander'
import type { ExportFormat } from '../../api/export/formats.ts'
import { demoLink, type Flags, type SettingsInput, type Surroundings } from '../../settings.ts'
import type { Screen } from '../terminal/screen.ts'

/** What commander makes of the options of all commands, where they mean the same. A command has those that it adds. */
export interface Options extends Flags {
  readonly demo?: true
  readonly json?: true
  readonly limit?: number
  readonly offset?: number
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly tz?: string | undefined
  readonly project?: readonly string[]
  readonly machine?: readonly string[]
  readonly model?: readonly string[]
  readonly mode?: readonly string[]
  readonly chat?: readonly string[]
  readonly as?: ExportFormat | 'md'
  readonly output?: string
  readonly force?: true
  readonly orphans?: true
  readonly redact?: boolean
  readonly around?: string
  readonly full?: true
  readonly pager?: boolean
  readonly groupBy?: string
  readonly csv?: true
  readonly notes?: true
  readonly print?: true
  readonly follow?: boolean
  readonly all?: boolean
  readonly sources?: true
}

export type JsonOption = Pick<Options, 'json'>

const collect = (word: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), word]

/** A flag that may be given several times. */
export function addRepeatable(command: Command, flags: string, what: string): void {
  command.option(flags, `${what} (repeatable)`, collect)
}

/** The group of these flags in the help. */
export const SETTING_FLAGS = 'Settings:'

/** Flags for settings. They belong to the program itself, so that they may be before and after the command's name. */
export function addSettingFlags(program: Command): void {
  const others = program.options.length
  addRepeatable(program, '--cursor-user-dir <folder>', '"User" folder of Cursor to read; "" reads none')
  addRepeatable(program, '--cursor-home <folder>', 'home folder of Cursor to read; "" reads none')
  program
    .option('--data-dir <folder>', 'folder for the mirror, the lock and the token')
    .option('--config <file>', 'config file')
    .option('--host <host>', 'address to listen on; by default 127.0.0.1')
    .option('--port <port>', 'port to listen on; by default 4870, 0 takes any free port')
    .option('--public-url <url>', 'another address of this server, for a proxy or an SSH tunnel')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent; by default info')
    .option('--hub-url <url>', 'address of the PostgreSQL through which chats are shared')
    .option('--auth', 'require the token on loopback addresses too')
    .option('--demo', 'use the running demo, which "cursordex demo" starts')
  for (const option of program.options.slice(others)) option.helpGroup(SETTING_FLAGS)
}

/** True for `--demo` of a command that asks the running demo. `serve --demo` starts one. */
export const asksDemo = (command: Command): boolean =>
  command.optsWithGlobals<Options>().demo === true && !['serve', 'demo'].includes(command.name())

/** The input for the settings of a command. It reads nothing that takes time. */
export function inputOf(surroundings: Surroundings, command: Command): SettingsInput {
  const { env, platform, homeDir, workingDir } = surroundings
  const given = command.optsWithGlobals<Options>()
  // The mirror of a demo that was killed must not get the chats of this machine.
  const ofDemo = { dataDir: given.dataDir ?? demoLink(platform, env, homeDir), cursorUserDir: [], cursorHome: [] }
  const flags = asksDemo(command) ? { ...given, ...ofDemo } : given
  return { env, platform, homeDir, ...(workingDir === undefined ? {} : { workingDir }), flags }
}

const FILTERS = {
  project: 'only this project: its name, path or id',
  machine: 'only chats of this machine: its name or user/name; local is this one',
}

/** The filters that mean the same everywhere. */
export function addFilters(command: Command, ...names: readonly (keyof typeof FILTERS)[]): Command {
  for (const name of names) addRepeatable(command, `--${name} <${name}>`, FILTERS[name])
  return command
}

export function addJson(command: Command): Command {
  return command.option('--json', 'print the answer as JSON')
}

/** Pages have the limits of the API: 1 to 200 items. */
export function addPage(command: Command): Command {
  return command
    .option('-n, --limit <n>', 'how many to list, 1 to 200; by default 20', wholeNumber(1, 200))
    .option('--offset <n>', 'how many to skip; by default 0', wholeNumber(0, Number.MAX_SAFE_INTEGER))
}

export function addDates(command: Command): Command {
  return command
    .option('--from <date>', 'only from this date or time on')
    .option('--to <date>', 'only before this date or time')
    .option('--tz <zone>', 'time zone of dates without one, such as Europe/Berlin; by default yours')
}

export function wholeNumber(min: number, max: number): (word: string) => number {
  return (word) => {
    const number = /^\d{1,16}$/.test(word) ? Number(word) : Number.NaN
    if (number >= min && number <= max) return number
    const upTo = max === Number.MAX_SAFE_INTEGER ? 'or more' : `to ${max}`
    throw new InvalidArgumentError(`It must be a whole number, ${min} ${upTo}.`)
  }
}

export function addExamples(command: Command, ...examples: readonly [string, string]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}\n`).join('')}`)
}

type QueryValue = string | number | boolean | readonly string[] | undefined

/** The values as parameters of the API, without undefined ones. A list repeats its parameter. */
export function queryOf(values: Readonly<Record<string, QueryValue>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  return query
}

/** Whether the time zone matters. Finding the zone of the machine takes about 15 ms. */
export const hasDates = ({ from, to }: Options): boolean => from !== undefined || to !== undefined

/** Whether a search contains a field with a date. */
export const hasDateField = (words: string): boolean => /(?:before|after|on):/i.test(words)

/**
 * Adds the user's own time zone, which printed times use too. The daemon may have been started in another zone.
 */
export const inOwnZone = <Values extends Pick<Options, 'from' | 'to' | 'tz'>>(
  values: Values,
  screen: Screen,
  isDated: boolean = hasDates(values),
): Values => (isDated && values.tz === undefined ? { ...values, tz: screen.timeZone } : values)
