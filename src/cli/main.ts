import { Command, CommanderError } from 'commander'
import { UserError } from '../model/user-error.ts'
import { addCommands } from './commands.ts'
import { addExamples, addSettingFlags } from './input/options.ts'
import { PipeClosed } from './terminal/screen.ts'
import { printable, printableLine } from '../text/printable.ts'
import { Session, type World } from './session.ts'

/**
 * Runs one command line and returns the exit code: 0 done, 1 failed or found nothing, 2 wrong usage or settings, 3 another
 * cursordex uses the data folder. All output is written by then.
 */
export async function runCli(argv: readonly string[], world: World): Promise<number> {
  const session = new Session(world, argv)
  // Commander writes without waiting. Its output is collected here and written at the end.
  const help: string[] = []
  try {
    const program = await programFor(session, help)
    await program.parseAsync(argv, { from: 'user' })
    return session.exitCode
  } catch (thrown) {
    const error = explainSystem(thrown, session.settings?.dataDir ?? null) ?? thrown
    return await end(error, session.named(help.join('')), session)
  }
}

async function programFor(session: Session, help: string[]): Promise<Command> {
  const program = new Command('cursordex')
    .description('Mirrors Cursor’s chats into a database of your own, and finds what you remember.')
    .version(session.world.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => help.push(text),
      // Only `cursordex help nonsense` gets here, with the help of the whole program. That is too much for one mistake.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => session.screen.width ?? 80,
      getErrHelpWidth: () => session.screen.width ?? 80,
    })
  addSettingFlags(program)
  await addCommands(program, session)
  return addExamples(program, 'cursordex', 'cursordex search connection pool --sort newest')
}

/** Ends a run that was interrupted: prints the help that was asked for, or what is wrong. @returns the exit code */
async function end(error: unknown, help: string, session: Session): Promise<number> {
  const isHelp = error instanceof CommanderError && error.exitCode === 0
  try {
    if (isHelp) await session.print(help)
    else if (!(error instanceof PipeClosed)) await session.note(sentencesOf(error))
  } catch (failed) {
    // If the output cannot be written, the exit code still shows the result.
    if (failed instanceof UserError && isHelp) return end(failed, '', session)
    if (!(failed instanceof PipeClosed)) throw failed
  }
  if (error instanceof UserError) return error.exitCode
  if (error instanceof CommanderError) return isHelp ? 0 : 2
  return error instanceof PipeClosed ? 0 : 1
}

function sentencesOf(error: unknown): string {
  if (error instanceof CommanderError) return usageSentence(error)
  if (error instanceof UserError) {
    const lines = [error.message, error.hint].filter((line) => line !== '')
    return lines.map((line) => `${printable(line)}\n`).join('')
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `This is a bug in cursordex. Please report it, with these lines:\n${printable(text)}\n`
}

/** `error: unknown option '--prot'\n(Did you mean --port?)` as sentences. */
function usageSentence({ code, message }: CommanderError): string {
  // Commander prints the whole help for `help nonsense`.
  if (code === 'commander.help') return 'There is no such command. See: cursordex --help\n'
  const line = printableLine(message.replace(/^error: /, '').replace(/\s*\((Did you mean .*\?)\)$/s, '. $1'))
  const sentence = line.charAt(0).toUpperCase() + line.slice(1)
  return /[.?]$|--help$/.test(sentence) ? `${sentence}\n` : `${sentence}.\n`
}

const OF_DATABASE = /^SQLITE_(CANTOPEN|IOERR|NOTADB|READONLY|PERM|FULL|NOMEM)/
const HINT = 'Check its folder, its permissions, its disk, and how many files you may open (ulimit -n).'

/**
 * An error of the file system or of SQLite that no other place explains, as a sentence. Null for any other error: a bug.
 * @param dataDir the data folder; null if it is not known yet
 */
export function explainSystem(error: unknown, dataDir: string | null): UserError | null {
  if (!(error instanceof Error && 'code' in error)) return null
  const code = String(error.code)
  const path = 'syscall' in error && 'path' in error ? String(error.path) : null
  if (path === null && !OF_DATABASE.test(code)) return null
  const what = path ?? `A database in ${dataDir ?? 'the data folder'}`
  const why = path === null ? `${error.message}, ${code}` : code
  return new UserError('system', `${what} cannot be used (${why}).`, HINT, { cause: error })
}
