import type { Command } from 'commander'
import type { Place, Session } from './session.ts'

type Add = (program: Command, session: Session, place: Place) => void

/** The default command. */
const SERVE = 'serve'

/** Every command in the order of the help, with its loader. Only the code of the used command is loaded. */
const commands: readonly (readonly [name: string, load: () => Promise<Add>])[] = [
  [SERVE, async () => (await import('./commands/serve.ts')).addServeCommand],
  ['demo', async () => (await import('./commands/serve.ts')).addDemoCommand],
  ['search', async () => (await import('./commands/search.ts')).addSearchCommand],
  ['chats', async () => (await import('./commands/chats.ts')).addChatsCommand],
  ['show', async () => (await import('./commands/show.ts')).addShowCommand],
  ['export', async () => (await import('./commands/export.ts')).addExportCommand],
  ['projects', async () => (await import('./commands/projects.ts')).addProjectsCommand],
  ['stats', async () => (await import('./commands/stats/stats.ts')).addStatsCommand],
  ['tokens', async () => (await import('./commands/tokens/tokens.ts')).addTokensCommand],
  ['losses', async () => (await import('./commands/losses.ts')).addLossesCommand],
  ['commits', async () => (await import('./commands/commits.ts')).addCommitsCommand],
  ['archive', async () => (await import('./commands/archive/archive.ts')).addArchiveCommand],
  ['purge', async () => (await import('./commands/purge/purge.ts')).addPurgeCommand],
  ['open', async () => (await import('./commands/open.ts')).addOpenCommand],
  ['token', async () => (await import('./commands/token.ts')).addTokenCommand],
  ['mcp', async () => (await import('./commands/mcp/mcp.ts')).addMcpCommand],
  ['service', async () => (await import('./commands/service/service.ts')).addServiceCommand],
  ['status', async () => (await import('./commands/status.ts')).addStatusCommand],
  ['sync', async () => (await import('./commands/sync.ts')).addSyncCommand],
  ['doctor', async () => (await import('./commands/doctor/doctor.ts')).addDoctorCommand],
  ['completion', async () => (await import('./commands/completion/completion.ts')).addCompletionCommand],
]

/** The command that completion scripts call. It is not in the help. */
const COMPLETE = '__complete'

/** Before a command that a text names. */
const NAMED = new RegExp(
  `(?<=^|[\\s(\`"':])cursordex (?=(?:${commands.map(([name]) => name).join('|')}|help)\\b|--)`,
  'gm',
)

/** Commands in a text as the user types them: in a checkout nothing is on the PATH, and npx finds the program. */
export const asTyped = (text: string, isCheckout: boolean): string =>
  isCheckout ? text.replace(NAMED, 'npx cursordex ') : text

/**
 * Adds the commands. Loaded are the default command and every command whose name is among the arguments. For help, which
 * lists all of them with their arguments, and for the completion of a command's name, all are loaded. For the others only
 * the name is added.
 */
export async function addCommands(
  program: Command,
  session: Session,
  argv: readonly string[],
  place: Place,
): Promise<void> {
  const isCompletion = argv[0] === COMPLETE
  // After a command's name, completion needs only that command. Loading all of them takes longer than the answer.
  const isNaming = isCompletion && !commands.some(([name]) => argv.includes(name))
  const isEveryNeeded = isNaming || argv.some((word) => ['help', '--help', '-h'].includes(word))
  for (const [name, load] of commands) {
    if (isEveryNeeded || name === SERVE || argv.includes(name)) (await load())(program, session, place)
    else program.command(name)
  }
  if (!isCompletion) return
  const { addCompleteCommand } = await import('./commands/completion/completion.ts')
  addCompleteCommand(program, session, place)
}
