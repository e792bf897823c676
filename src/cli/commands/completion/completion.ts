import { Argument, type Command } from 'commander'
import type { CompletedKind } from '../../../api/queries/completion-values.ts'
import type { Settings } from '../../../settings.ts'
import { printableLine } from '../../../text/printable.ts'
import { addExamples } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import { wantedAt, type Offer } from './offers.ts'
import { completionScripts } from './scripts.ts'
import { readTypedWords, shells, type Shell } from './words.ts'

const shellArgument = () => new Argument('<shell>', 'the shell').choices(shells)

export function addCompletionCommand(program: Command, session: Session): void {
  const command = program.command('completion').addArgument(shellArgument())
  addExamples(command, 'source <(cursordex completion bash)', 'cursordex completion fish | source')
  command.action((shell: Shell) => session.print(completionScripts[shell]))
}

/** Adds the hidden command that prints what fits at the cursor. It never fails: then it prints nothing. */
export function addCompleteCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program.command('__complete', { hidden: true }).addArgument(shellArgument()).argument('[words...]')
  command.action(async (shell: Shell, raw: readonly string[]) => {
    try {
      await session.print(await completionLines(program, shell, raw, settingsOf))
    } catch {
      // Nobody asked for an error while typing.
    }
  })
}

async function completionLines(
  program: Command,
  shell: Shell,
  raw: readonly string[],
  settingsOf: Place['settingsOf'],
): Promise<string> {
  const { before, current, insertable } = readTypedWords(shell, raw)
  const { offers, kind, head, command } = wantedAt(program, before, current)
  if (kind === 'files') return '\tfiles\n'
  const start = current.slice(head.length)
  const read = kind === null ? [] : await readValues(kind, start, settingsOf(command))
  return [...offers, ...read]
    .filter(({ value }) => value.startsWith(start) && isOneLine(value))
    .map(({ value, description }) => `${insertable(`${head}${value}`)}\t${printableLine(description)}\n`)
    .join('')
}

/** A shell cannot insert other values. */
const isOneLine = (value: string): boolean => value !== '' && printableLine(value) === value

/** From the mirror itself, whether or not a daemon runs. Cursor is not read, because that can take long. */
async function readValues(
  kind: CompletedKind | 'archives',
  start: string,
  settings: Settings,
): Promise<readonly Offer[]> {
  if (kind === 'archives') {
    const { listRunNames } = await import('../../../api/archives/manifest-files.ts')
    return listRunNames(settings.archives.dir).map((value) => ({ value, description: '' }))
  }
  const [{ mirrorPath }, { openReader }, { readCompletionValues }] = await Promise.all([
    import('../../../engine/data-folder.ts'),
    import('../../../mirror/open.ts'),
    import('../../../api/queries/completion-values.ts'),
  ])
  const db = openReader(mirrorPath(settings.dataDir))
  try {
    return readCompletionValues(db, kind, start)
  } finally {
    db.close()
  }
}
