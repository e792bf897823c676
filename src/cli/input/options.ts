import { InvalidArgumentError, type Command } from 'commander'
import { UserError } from '../../model/user-error.ts'
import { filters, type FieldFilter } from '../../shared/filters.ts'
import { demoLink, type Flags, type SettingsInput, type Surroundings } from '../../settings.ts'
import type { Screen } from '../terminal/screen.ts'
import { nearestName } from '../../text/nearest-name.ts'

type Switch = 'demo' | 'json' | 'force' | 'orphans' | 'redact' | 'full' | 'pager' | 'notes' | 'print' | 'follow'
type PurgeSwitch = 'match' | 'yes' | 'acceptLostBars'
type Word = 'from' | 'to' | 'tz' | 'before' | 'output' | 'around'

/** What commander makes of the options of all commands, where they mean the same. A command has those that it adds. */
export type Options = Flags & {
  readonly [Name in FieldFilter]?: readonly string[]
} & {
  readonly [Name in Switch | PurgeSwitch | 'sources']?: boolean
} & {
  readonly [Name in Word]?: string | undefined
} & {
  readonly [Name in 'limit' | 'offset']?: number
}

const collect = (word: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), word]

/** A flag that may be given several times. */
export function addRepeatable(command: Command, flags: string, what: string): void {
  command.option(flags, `${what} (repeatable)`, collect)
}

/** The group of these flags in the help. */
const SETTING_FLAGS = 'Settings:'

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

export const wantsJson = (command: Command): boolean => command.optsWithGlobals<Options>().json === true

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

/** Filters of `shared/filters.ts`; for a period also the zone of its dates. */
export function addFilters(command: Command, ...names: readonly (FieldFilter | 'period')[]): Command {
  for (const name of names) {
    if (name === 'period') {
      for (const bound of ['from', 'to'] as const) command.option(`--${bound} <date>`, filters[bound].help)
      command.option('--tz <zone>', 'time zone of dates without one, such as Europe/Berlin; by default yours')
      continue
    }
    const { value, help } = filters[name]
    addRepeatable(command, `--${name} <${value}>`, name === 'chat' ? `${help}, or 4 or more characters of it` : help)
  }
  return command
}

/** Pages have the limits of the API: 1 to 200 items. */
export function addPage(command: Command): Command {
  return command
    .option('-n, --limit <n>', 'how many to list, 1 to 200; by default 20', wholeNumber(1, 200))
    .option('--offset <n>', 'how many to skip; by default 0', wholeNumber(0, Number.MAX_SAFE_INTEGER))
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
  const settings = command.parent === null ? '' : '\nOptions of every command, each also a setting: cursordex --help\n'
  return command.addHelpText(
    'after',
    `${settings}\nExamples:\n${examples.map((example) => `  $ ${example}\n`).join('')}`,
  )
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

/**
 * Refuses empty values, which an unset variable of a shell leaves. They must not count as a missing option.
 * @throws UserError `empty-value`, exit code 2, with the option or argument as the help names it
 */
export function refuseEmpty(command: Command): void {
  const values = command.opts<Readonly<Record<string, unknown>>>()
  const options = command.options.map((each) => [each.long ?? each.flags, values[each.attributeName()]] as const)
  const fixed = command.registeredArguments.filter(({ variadic }) => !variadic)
  const words = fixed.map((argument, index) => [argument.name(), command.args[index]] as const)
  for (const [name, value] of [...options, ...words]) {
    if (![value].flat().some((word) => typeof word === 'string' && word.trim() === '')) continue
    const hint = 'Give it a value, or leave it out.'
    throw new UserError('empty-value', `${name} has an empty value.`, hint, { exitCode: 2 })
  }
}

/** Adds a command that only has subcommands: without one it prints its help. */
export function addGroup(
  program: Command,
  name: string,
  about: string,
  ...examples: readonly [string, string]
): Command {
  const group = program.command(name).description(about).allowExcessArguments()
  group.action(() => {
    refuseExcess(group, group.args)
    group.help()
  })
  return addExamples(group, ...examples)
}

/** Ends the run if the first word is not one of the subcommands. */
export function refuseExcess(command: Command, [word]: readonly string[]): void {
  const known = command.commands.map((each) => each.name())
  if (word !== undefined) refuseWord(command, 'command', word, known)
}

/** Ends the run because of an unknown word, and suggests the nearest known one. */
export function refuseWord(
  command: Command,
  kind: 'command' | 'option',
  word: string,
  known: readonly string[],
): never {
  const near = nearestName(word, known)
  const remedy = near === null ? 'See: cursordex --help' : `Did you mean ${near}?`
  return command.error(`error: unknown ${kind} '${word}'. ${remedy}`)
}
