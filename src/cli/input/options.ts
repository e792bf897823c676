import { InvalidArgumentError, type Command } from 'commander'
import type { Flags, SettingsInput, Surroundings } from '../../settings.ts'
import type { Screen } from '../terminal/screen.ts'

const collect = (word: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), word]

/** A flag that may be given again and again. */
export function addRepeatable(command: Command, flags: string, what: string): void {
  command.option(flags, `${what} (repeatable)`, collect)
}

/** The settings that flags can set, on the program itself: it takes them before and after the command's name. */
export function addSettingFlags(program: Command): void {
  addRepeatable(program, '--cursor-user-dir <folder>', 'read this "User" folder of Cursor; "" reads none')
  addRepeatable(program, '--cursor-home <folder>', 'read this home folder of Cursor; "" reads none')
  program
    .option('--data-dir <folder>', 'folder of the mirror, the lock and the token')
    .option('--config <file>', 'config file')
    .option('--host <host>', 'address to listen on')
    .option('--port <port>', 'port to listen on; 0 takes any that is free')
    .option('--log-level <level>', 'trace, debug, info, warn, error or silent')
    .option('--auth', 'ask for the token on loopback addresses too')
}

const flagsOf = (command: Command): Flags => command.optsWithGlobals<Flags>()

/** What the settings of a command are made of; of the world nothing is looked at that costs time. */
export function inputOf({ env, platform, homeDir, workingDir }: Surroundings, command: Command): SettingsInput {
  return { env, platform, homeDir, ...(workingDir === undefined ? {} : { workingDir }), flags: flagsOf(command) }
}

export interface JsonOption {
  readonly json?: true
}

export function addJson(command: Command): Command {
  return command.option('--json', 'print the answer as JSON')
}

export interface PageOptions {
  readonly limit?: number
  readonly offset?: number
}

/** As the API pages: 1 to 200 at a time. */
export function addPage(command: Command): Command {
  return command
    .option('--limit <n>', 'how many to list, 1 to 200', wholeNumber(1, 200))
    .option('--offset <n>', 'how many to skip', wholeNumber(0, Number.MAX_SAFE_INTEGER))
}

export interface DateOptions {
  readonly from?: string
  readonly to?: string
  readonly tz?: string
}

export function addDates(command: Command): Command {
  return command
    .option('--from <date>', 'from this date or time on')
    .option('--to <date>', 'before this date or time')
    .option('--tz <zone>', 'time zone of bare dates, such as Europe/Berlin')
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

/** What was given, as the API's parameters; a list repeats its parameter. */
export function queryOf(values: Readonly<Record<string, QueryValue>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each))
  }
  return query
}

interface Dated {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly tz?: string | undefined
}

/** Whether anything is asked that a zone decides. It takes some 15 ms to know one's own. */
export const namesDates = ({ from, to }: Dated): boolean => from !== undefined || to !== undefined

/** Fields of the search language that take a date. */
export const holdsDateField = (words: string): boolean => /(?:before|after|on):/i.test(words)

/**
 * Dates are meant by the clock that who types them looks at, and that the times which are printed go by: a daemon may have
 * been started in another zone.
 */
export const inOwnZone = <Values extends Dated>(
  values: Values,
  screen: Screen,
  isDated: boolean = namesDates(values),
): Values => (isDated && values.tz === undefined ? { ...values, tz: screen.timeZone } : values)
