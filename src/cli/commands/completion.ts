import { script } from '@bomb.sh/tab'
import { Argument, type Command, type Option } from 'commander'
import { partNames } from '../../api/search/query.ts'
import { roles } from '../../model/message.ts'
import { addExamples } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addCommand(program: Command, session: Session): void {
  const shell = new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'powershell'])
  const command = program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(shell)
  addExamples(command, 'source <(cursordex completion bash)', 'cursordex completion fish | source')
  // A script asks with `cursordex completion SHELL complete -- WORD…`. The last word is the one at the cursor.
  const isAsked = session.argv[2] === 'complete'
  command
    .allowExcessArguments(isAsked)
    .action((name: string) => session.print(isAsked ? answerOf(program, command.args.slice(2)) : scriptOf(name)))
}

/** The library's script for bash needs another package, and evaluates what is typed. */
const bash = `_cursordex() {
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    if [[ $line == :0 ]]; then compopt -o default 2>/dev/null
    elif [[ $line != :* ]]; then COMPREPLY+=("\${line%%$'\\t'*}"); fi
  done < <(cursordex completion bash complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cursordex cursordex
`

function scriptOf(shell: string): string {
  if (shell === 'bash') return bash
  let text = ''
  const { log } = console
  // The library prints, and takes no stream.
  Object.assign(console, { log: (line: string) => (text = `${line}\n`) })
  script(shell, 'cursordex', `cursordex completion ${shell}`)
  Object.assign(console, { log })
  return text
}

/** A line for each word that fits at the cursor. The last line tells the script whether names of files fit, too. */
function answerOf(program: Command, typed: readonly string[]): string {
  const words = typed.flatMap((word, index) => {
    // bash splits words at an equals sign.
    if (word === '=') return index === typed.length - 1 ? [''] : []
    return /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? word
  })
  const offers = offersAt(program, words)
  const fitting = (offers ?? []).filter(({ value }) => value.startsWith(words.at(-1) ?? ''))
  const lines = fitting.map(({ value, description }) => `${value}\t${description}\n`)
  return `${lines.join('')}${offers === null ? ':0' : ':4'}\n`
}

const LISTS: Readonly<Record<string, readonly string[]>> = { role: roles, in: partNames }

/** What may be at the end of these words. Null if anything may, such as a file. */
function offersAt(program: Command, words: readonly string[]) {
  const help = program.createHelp()
  let command = program
  let option: Option | undefined
  let place = 0
  // Every command takes the options of the program, too.
  const options = () => [...help.visibleOptions(command), ...program.options]
  for (const word of words.slice(0, -1)) {
    const below = command.commands.find((each) => each.name() === word)
    if (option !== undefined) option = undefined
    else if (word.startsWith('-'))
      option = options().find(({ required, short, long }) => required && [short, long].includes(word))
    else if (below === undefined) place += 1
    else command = below
  }
  if (option === undefined && words.at(-1)?.startsWith('-') === true) {
    return options().map(({ long, description }) => ({ value: long ?? '', description }))
  }
  const commands = option === undefined && place === 0 ? help.visibleCommands(command) : []
  const names = commands.map((each) => ({ value: each.name(), description: each.description() }))
  const { registeredArguments } = command
  const source = option ?? registeredArguments[place] ?? registeredArguments.find(({ variadic }) => variadic)
  if (source === undefined) return names
  const known = source.argChoices ?? LISTS[option?.attributeName() ?? '']
  return known === undefined ? null : [...names, ...known.map((value) => ({ value, description: '' }))]
}
