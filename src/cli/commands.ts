import type { Command } from 'commander'
import type { Place, Session } from './session.ts'

type Add = (program: Command, session: Session, place: Place) => void

/** What runs where no command is named. */
const SERVE = 'serve'

/** Every command in the order of the help, and how it is loaded: a search has no use for what a doctor needs. */
const commands: readonly (readonly [name: string, load: () => Promise<Add>])[] = [
  [SERVE, async () => (await import('./commands/serve.ts')).addServeCommand],
  ['demo', async () => (await import('./commands/demo.ts')).addDemoCommand],
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
  ['mcp', async () => (await import('./commands/mcp/mcp.ts')).addMcpCommand],
  ['status', async () => (await import('./commands/status.ts')).addStatusCommand],
  ['sync', async () => (await import('./commands/sync.ts')).addSyncCommand],
  ['doctor', async () => (await import('./commands/doctor/doctor.ts')).addDoctorCommand],
]

/**
 * Adds the commands. Whole are those that the words may mean: any that they name, all where help is asked for, which
 * lists them with their arguments, and the one that runs where none is named. Of the others the program knows the name.
 */
export async function addCommands(
  program: Command,
  session: Session,
  argv: readonly string[],
  place: Place,
): Promise<void> {
  const isHelp = argv.some((word) => ['help', '--help', '-h'].includes(word))
  for (const [name, load] of commands) {
    if (isHelp || name === SERVE || argv.includes(name)) (await load())(program, session, place)
    else program.command(name)
  }
}
