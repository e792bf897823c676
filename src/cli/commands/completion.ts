import { script } from '@bomb.sh/tab'
import completionOf from '@bomb.sh/tab/commander'
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

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
type Shell = (typeof shells)[number]

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program.command('completion').addArgument(new Argument('<shell>', 'the shell').choices(shells))
  addExamples(command, 'source <(cursordex completion bash)', 'cursordex completion fish | source')
  // A script asks with `cursordex completion SHELL complete -- WORD…`. The last word is the one at the cursor.
  const isAsked = session.argv[2] === 'complete'
  command.allowExcessArguments(isAsked).action((shell: Shell) => {
    if (!isAsked) return session.print(scriptOf(shell))
    let answer = NOTHING
    try {
      answer = answerOf(program, shell, command.args.slice(2), settingsOf)
    } catch {
      // Nobody asks for an error while typing: without a mirror, or with wrong settings, nothing is offered.
    }
    return session.print(answer)
  })
}

/** The values of options and arguments that commander does not know, by their names. */
const VALUES: Readonly<Record<string, CompletedKind | 'archives' | 'files' | readonly string[]>> = {
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
  csv: 'files',
}

/** The last line of an answer tells the script whether names of files fit. */
const WITH_FILES = ':0\n'
const NOTHING = ':4\n'

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

function scriptOf(shell: Shell): string {
  if (shell === 'bash') return bash
  const text = logged(() => script(shell, 'cursordex', `cursordex completion ${shell}`))
  return text
    .replace('"${=words[1,CURRENT]}"', '"${(@)words[1,CURRENT]}"')
    .replace('comp=${comp//:/\\:}', 'comp=${comp//:/\\\\:}')
    .replace('completions -Q ', 'completions ')
}

/** What the library prints, which is no stream that one can name. */
function logged(act: () => void): string {
  let text = ''
  const { log } = console
  Object.assign(console, { log: (line: string) => (text += `${line}\n`) })
  act()
  Object.assign(console, { log })
  return text
}

/** A line with a value and its description for each that fits at the cursor. @param typed with quotes */
function answerOf(program: Command, shell: Shell, typed: readonly string[], settingsOf: SettingsOf): string {
  const plain = typed.map((word) => word.replaceAll(/\\(.)|["']/gs, '$1'))
  const words = (shell === 'bash' ? plain.reduce<string[]>(glue, []) : plain).flatMap(
    (word) => /^(--[^=]+)=(.*)$/s.exec(word)?.slice(1) ?? word,
  )
  const start = words.at(-1) ?? ''
  let ending = NOTHING
  const valuesOf = (source: Argument | Option, name: string) => (add: (value: string, description: string) => void) => {
    const known = source.argChoices ?? VALUES[name] ?? []
    if (known === 'files' || /<(?:folder|file)>$/.test(name)) ending = WITH_FILES
    else if (typeof known !== 'string') for (const value of known) add(value, '')
    else for (const { value, description } of readValues(known, start, typedSettings())) add(value, description)
  }
  // Settings that were typed before say which mirror is read.
  const typedSettings = (): Settings => {
    program.parseOptions(words.slice(0, -1))
    return settingsOf(program)
  }
  const completion = completionOf(program)
  completion.commands.delete('complete')
  for (const [path, target] of [['', completion] as const, ...completion.commands]) {
    const command = path
      .split(' ')
      .reduce((above, name) => above.commands.find((each) => each.name() === name) ?? above, program)
    for (const each of command.registeredArguments) {
      target.argument(each.name(), valuesOf(each, each.name()), each.variadic)
    }
    // Every command takes the options of the program, too.
    for (const each of [...command.options, ...program.options]) {
      const [name, alias] = [each.long?.slice(2) ?? '', each.short?.slice(1)]
      const values = valuesOf(each, /<(?:folder|file)>$/.test(each.flags) ? each.flags : each.attributeName())
      target.option(name, each.description, ...(each.required ? ([values, alias] as const) : ([alias] as const)))
    }
  }
  logged(() => completion.parse([...words]))
  // bash replaces only what stands after the last of its breaks.
  const last = BREAK.test(plain.at(-1) ?? '') ? '' : (plain.at(-1) ?? '')
  const lines = completion.completions
    // A shell cannot insert several lines.
    .filter(({ value }) => value.startsWith(start) && value !== '' && printableLine(value) === value)
    .map(({ value, description = '' }) => {
      const text = shell === 'bash' ? inBash(value.slice(start.length - last.length), typed.at(-1)) : value
      return `${text}\t${printableLine(description)}\n`
    })
  return `${lines.join('')}${ending}`
}

/** bash splits words at these, too. */
const BREAK = /^[@:=]+$/

const glue = (words: string[], word: string, index: number, all: readonly string[]): string[] =>
  index > 0 && (BREAK.test(word) || BREAK.test(all[index - 1] ?? ''))
    ? [...words.slice(0, -1), `${words.at(-1) ?? ''}${word}`]
    : [...words, word]

/** @param typed within quotes, bash adds the closing one itself */
function inBash(text: string, typed = ''): string {
  if (typed.startsWith('"')) return text.replaceAll(/["\\$`]/g, String.raw`\$&`)
  if (typed.startsWith("'")) return text.replaceAll("'", String.raw`'\''`)
  return text.replaceAll(/[^\p{L}\p{M}\p{N}_%+,./@:=-]/gu, String.raw`\$&`)
}

/** From the mirror itself, whether or not a daemon runs. Cursor is not read, because that can take long. */
function readValues(kind: CompletedKind | 'archives', start: string, settings: Settings): readonly CompletionValue[] {
  if (kind === 'archives') return listRunNames(settings.archives.dir).map((value) => ({ value, description: '' }))
  const db = openReader(mirrorPath(settings.dataDir))
  try {
    return readCompletionValues(db, kind, start)
  } finally {
    db.close()
  }
}
