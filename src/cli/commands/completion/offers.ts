import type { Argument, Command, Option } from 'commander'
import { partNames } from '../../../api/search/language/tree.ts'
import { roles } from '../../../model/message.ts'
import type { CompletedKind } from '../../../api/queries/completion-values.ts'

export interface Offer {
  readonly value: string
  /** Empty if there is none. */
  readonly description: string
}

/** What fits at the cursor. `head` precedes each value, as in `--project=shop`. */
export interface Wanted {
  readonly offers: readonly Offer[]
  /** Values that only the mirror or the archive folder knows. */
  readonly kind: CompletedKind | 'archives' | 'files' | null
  readonly head: string
  /** The command at the cursor. It has the settings that were typed before. */
  readonly command: Command
}

type Values = Pick<Wanted, 'offers' | 'kind'>

const NOTHING: Values = { offers: [], kind: null }

/** The values of options and arguments by their name. Commander knows the others, which are choices. */
const KINDS: Readonly<Record<string, Wanted['kind']>> = {
  project: 'projects',
  repo: 'projects',
  chat: 'chats',
  chatId: 'chats',
  tool: 'tools',
  model: 'models',
  machine: 'machines',
  name: 'archives',
  csv: 'files',
  shape: 'files',
}

const LISTS: Readonly<Record<string, readonly string[]>> = { role: roles, in: partNames }

/** @param before the complete words, from the first after the program's name @param current the beginning of the next */
export function wantedAt(program: Command, before: readonly string[], current: string): Wanted {
  const place = walk(program, before)
  const { command, open } = place
  const wanted = (values: Values, head = ''): Wanted => ({ ...values, head, command })
  if (open !== null) return wanted(valuesOfOption(open))
  if (!place.hasEnded && current.startsWith('-')) {
    const name = /^(--[^=]+)=/.exec(current)?.[1]
    if (name === undefined) return wanted({ offers: optionsOf(command), kind: null })
    const option = findOption(command, name)
    return wanted(option === undefined ? NOTHING : valuesOfOption(option), `${name}=`)
  }
  const argument = argumentAt(command, place.argumentCount)
  const values = argument === undefined ? NOTHING : valuesOf(argument.argChoices, argument.name())
  const commands = place.argumentCount === 0 ? commandsOf(command.name() === 'help' ? program : command) : []
  return wanted({ ...values, offers: [...commands, ...values.offers] })
}

interface Place {
  readonly command: Command
  /** An option that waits for its value. */
  readonly open: Option | null
  readonly argumentCount: number
  /** After `--` there are no options. */
  readonly hasEnded: boolean
}

function walk(program: Command, before: readonly string[]): Place {
  let command = program
  let open: Option | null = null
  let argumentCount = 0
  let hasEnded = false
  for (const word of before) {
    if (open !== null) {
      setOption(program, open, word)
      open = null
    } else if (!hasEnded && word === '--') hasEnded = true
    else if (!hasEnded && word.startsWith('-')) {
      const [name = '', ...value] = word.split('=')
      const option = findOption(command, name)
      if (option === undefined) continue
      if (value.length > 0) setOption(program, option, value.join('='))
      else if (option.required) open = option
      else setOption(program, option, true)
    } else {
      const below = argumentCount === 0 ? subcommands(command).find((each) => each.name() === word) : undefined
      if (below === undefined) argumentCount += 1
      else command = below
    }
  }
  return { command, open, argumentCount, hasEnded }
}

/** Only settings are set: they say which mirror is read. */
function setOption(program: Command, option: Option, word: string | true): void {
  if (!program.options.includes(option)) return
  const isList = option.parseArg !== undefined
  program.setOptionValueWithSource(option.attributeName(), isList ? [word] : word, 'cli')
}

const subcommands = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command)

/** Those of the program too: every command takes them, though its help does not list them. */
function allOptions(command: Command): readonly Option[] {
  const own = command.createHelp().visibleOptions(command)
  const above = command.parent === null ? [] : allOptions(command.parent)
  return [...own, ...above.filter(({ long }) => !own.some((option) => option.long === long))]
}

const findOption = (command: Command, name: string): Option | undefined =>
  allOptions(command).find(({ long, short }) => name === long || name === short)

const optionsOf = (command: Command): Offer[] =>
  allOptions(command).flatMap(({ long, short, description }) => {
    const value = long ?? short
    return value === undefined || value === null ? [] : [{ value, description }]
  })

const commandsOf = (command: Command): Offer[] =>
  subcommands(command).map((each) => ({ value: each.name(), description: each.description() }))

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1)
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined)
}

function valuesOfOption(option: Option): Values {
  if (/<(?:folder|file)>$/.test(option.flags)) return { offers: [], kind: 'files' }
  return valuesOf(option.argChoices, option.attributeName())
}

function valuesOf(choices: readonly string[] | undefined, name: string): Values {
  const known = choices ?? LISTS[name]
  if (known === undefined) return { offers: [], kind: KINDS[name] ?? null }
  return { offers: known.map((value) => ({ value, description: '' })), kind: null }
}
