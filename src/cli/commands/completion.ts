import { script } from '@bomb.sh/tab'
import { Argument, type Command, type Option } from 'commander'
import { listRunNames } from '../../api/archives/archive-files.ts'
import { readCompletionValues, type CompletedKind, type CompletionValue } from '../../api/queries/completion-values.ts'
import { partNames } from '../../api/search/language/tree.ts'
import { mirrorPath } from '../../engine/data-folder.ts'
import { openReader } from '../../mirror/open.ts'
import { roles } from '../../model/message.ts'
import { printableLine } from '../../text/printable.ts'
import type { Settings } from '../../settings.ts'
import { addExamples } from '../input/options.ts'
import type { Place, Session, SettingsOf } from '../session.ts'

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const shell = new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish', 'powershell'])
  const command = program.command('completion').addArgument(shell)
  addExamples(command, 'source <(cursordex completion bash)', 'cursordex completion fish | source')
  // A script asks with `cursordex completion SHELL complete -- WORD…`. The last word is the one at the cursor.
  const isAsked = session.argv[2] === 'complete'
  command.allowExcessArguments(isAsked).action((name: string) => {
    if (!isAsked) return session.print(scriptOf(name))
    let answer = NO_FILES
    try {
      answer = answerOf(program, command.args.slice(2), name === 'bash', settingsOf)
    } catch {
      // Nobody asks for an error while typing: without a mirror, or with wrong settings, nothing is offered.
    }
    return session.print(answer)
  })
}

/** The values of options and arguments that commander does not know, by their names. Any other may be a file. */
const VALUES: Readonly<Record<string, CompletedKind | 'archives' | readonly string[]>> = {
  role: roles,
  in: partNames,
  project: 'projects',
  repo: 'projects',
  chat: 'chats',
  chatId: 'chats',
  tool: 'tools',
  model: 'models',
  machine: 'machines',
  name: 'archives',
}

/** The last line of an answer tells the script whether names of files fit, too. */
const WITH_FILES = ':0\n'
const NO_FILES = ':4\n'

/**
 * The library's script for bash needs another package, evaluates what is typed, and expands what is offered. Names come
 * from chats, so nothing may be evaluated. Its script for zsh breaks names at spaces and colons.
 */
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
  Object.assign(console, { log: (line: string) => (text = line) })
  script(shell as 'zsh', 'cursordex', `cursordex completion ${shell}`)
  Object.assign(console, { log })
  return `${text
    .replace('"${=words[1,CURRENT]}"', '"${(@)words[1,CURRENT]}"')
    .replace('comp=${comp//:/\\:}', 'comp=${comp//:/\\\\:}')
    .replace('completions -Q ', 'completions ')}\n`
}

/** A line with a value and its description for each that fits at the cursor. @param typed with quotes */
function answerOf(program: Command, typed: readonly string[], isBash: boolean, settingsOf: SettingsOf): string {
  const words = typed.flatMap((word, index) => {
    // bash splits words at an equals sign, too.
    if (isBash && word === '=') return index === typed.length - 1 ? [''] : []
    const plain = word.replaceAll(/\\(.)|["']/gs, '$1')
    return /^(--[^=]+)=(.*)$/s.exec(plain)?.slice(1) ?? plain
  })
  const start = words.at(-1) ?? ''
  const offers = offersAt(program, words, settingsOf)
  const lines = (offers ?? [])
    // A shell cannot insert several lines.
    .filter(({ value }) => value.startsWith(start) && value !== '' && printableLine(value) === value)
    .map(({ value, description }) => `${isBash ? inBash(value, typed.at(-1)) : value}\t${printableLine(description)}\n`)
  return `${lines.join('')}${offers === null ? WITH_FILES : NO_FILES}`
}

/** What may be at the end of these words. Null if that is not known. */
function offersAt(program: Command, words: readonly string[], settingsOf: SettingsOf): CompletionValue[] | null {
  const start = words.at(-1) ?? ''
  const help = program.createHelp()
  let command = program
  let option: Option | undefined
  let place = 0
  // Every command takes the options of the program, too.
  const options = () => [...help.visibleOptions(command), ...program.options]
  for (const word of words.slice(0, -1)) {
    const below = command.commands.find((each) => each.name() === word)
    if (option !== undefined) option = undefined
    else if (word.startsWith('-')) option = options().find((each) => each.required && each.is(word))
    else if (below === undefined) place += 1
    else command = below
  }
  if (option === undefined && start.startsWith('-')) {
    return options().map(({ long, description }) => ({ value: long ?? '', description }))
  }
  const commands = option === undefined && place === 0 ? help.visibleCommands(command) : []
  const names = commands.map((each) => ({ value: each.name(), description: each.description() }))
  const { registeredArguments } = command
  const source = option ?? registeredArguments[place] ?? registeredArguments.find(({ variadic }) => variadic)
  if (source === undefined) return names
  const known = source.argChoices ?? VALUES[option?.attributeName() ?? source.name()]
  if (known === undefined) return null
  if (typeof known !== 'string') return [...names, ...known.map((value) => ({ value, description: '' }))]
  // Settings that were typed before say which mirror is read.
  program.parseOptions(words.slice(0, -1))
  return [...names, ...readValues(known, start, settingsOf(program))]
}

/** @param typed within quotes, bash adds the closing one itself */
function inBash(text: string, typed = ''): string {
  if (typed.startsWith('"')) return text.replaceAll(/["\\$`]/g, String.raw`\$&`)
  if (typed.startsWith("'")) return text.replaceAll("'", String.raw`'\''`)
  return text.replaceAll(/[^\p{L}\p{M}\p{N}_%+,./@:=-]/gu, String.raw`\$&`)
}

/** From the mirror itself, whether or not a daemon runs. Cursor is not read, because that can take long. */
function readValues(kind: CompletedKind | 'archives', start: string, settings: Settings): CompletionValue[] {
  if (kind === 'archives') return listRunNames(settings.archives.dir).map((value) => ({ value, description: '' }))
  const db = openReader(mirrorPath(settings.dataDir))
  try {
    return [...readCompletionValues(db, kind, start)]
  } finally {
    db.close()
  }
}
