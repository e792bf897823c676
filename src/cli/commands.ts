import type { Command } from 'commander'
import type { Place, Session } from './session.ts'

type Add = (program: Command, session: Session, place: Place) => void

/** The default command. */
const SERVE = 'serve'

interface Entry {
  readonly name: string
  readonly description: string
  readonly load: () => Promise<Add>
}

/** Every command in the order of the help. Only the code of the used command is loaded. */
const commands: readonly Entry[] = [
  {
    name: SERVE,
    description: 'run the daemon in the foreground: mirror the chats and serve the HTTP API',
    load: async () => (await import('./commands/serve.ts')).addServeCommand,
  },
  {
    name: 'demo',
    description: 'try it without Cursor, on sample data that grows as if an agent were working',
    load: async () => (await import('./commands/serve.ts')).addDemoCommand,
  },
  {
    name: 'search',
    description: 'find messages',
    load: async () => (await import('./commands/search.ts')).addSearchCommand,
  },
  { name: 'chats', description: 'list chats', load: async () => (await import('./commands/chats.ts')).addChatsCommand },
  { name: 'show', description: 'print a chat', load: async () => (await import('./commands/show.ts')).addShowCommand },
  {
    name: 'export',
    description: 'write a chat to a file as Markdown, HTML, JSON or JSON lines',
    load: async () => (await import('./commands/export.ts')).addExportCommand,
  },
  {
    name: 'projects',
    description: 'list projects',
    load: async () => (await import('./commands/projects.ts')).addProjectsCommand,
  },
  {
    name: 'stats',
    description: 'show how much was done, by day, project, model and tool',
    load: async () => (await import('./commands/stats/stats.ts')).addStatsCommand,
  },
  {
    name: 'tokens',
    description: 'show what is known about tokens, each number with its source',
    load: async () => (await import('./commands/tokens/tokens.ts')).addTokensCommand,
  },
  {
    name: 'losses',
    description: 'list messages and chats that were deleted in Cursor and are still here, latest first',
    load: async () => (await import('./commands/losses.ts')).addLossesCommand,
  },
  {
    name: 'commits',
    description: 'list the commits of a project, each with the chats that may have led to it',
    load: async () => (await import('./commands/commits.ts')).addCommitsCommand,
  },
  {
    name: 'archive',
    description: 'archive chats, verify the archives, and restore chats from them',
    load: async () => (await import('./commands/archive/archive.ts')).addArchiveCommand,
  },
  {
    name: 'purge',
    description:
      'remove messages for good from the mirror, its index and its archives; shows first what it would remove',
    load: async () => (await import('./commands/purge/purge.ts')).addPurgeCommand,
  },
  {
    name: 'hub',
    description: 'share chats with other machines through a PostgreSQL',
    load: async () => (await import('./commands/hub/hub.ts')).addHubCommand,
  },
  {
    name: 'open',
    description: 'open the page in the browser: all chats, one chat, or a search',
    load: async () => (await import('./commands/open.ts')).addOpenCommand,
  },
  {
    name: 'token',
    description: 'manage the token that --auth asks for',
    load: async () => (await import('./commands/token.ts')).addTokenCommand,
  },
  {
    name: 'mcp',
    description: 'answer an agent over MCP on stdin and stdout; with or without a running daemon',
    load: async () => (await import('./commands/mcp/mcp.ts')).addMcpCommand,
  },
  {
    name: 'service',
    description: 'keep the daemon running: start it at each login',
    load: async () => (await import('./commands/service/service.ts')).addServiceCommand,
  },
  {
    name: 'status',
    description: 'show what is mirrored, from where, and whether there are problems',
    load: async () => (await import('./commands/status.ts')).addStatusCommand,
  },
  {
    name: 'sync',
    description: 'read changes in Cursor’s files now, and wait until that is done',
    load: async () => (await import('./commands/sync.ts')).addSyncCommand,
  },
  {
    name: 'doctor',
    description: 'check what needs attention, and what was read from each store',
    load: async () => (await import('./commands/doctor/doctor.ts')).addDoctorCommand,
  },
  {
    name: 'completion',
    description: 'print a script that completes commands and names in a shell',
    load: async () => (await import('./commands/completion/completion.ts')).addCompletionCommand,
  },
]

/** Before a command that a text names. */
const NAMED = new RegExp(
  `(?<=^|[\\s(\`"':])cursordex (?=(?:${commands.map(({ name }) => name).join('|')}|help)\\b|--)`,
  'gm',
)

/** Commands in a text as the user types them: in a checkout nothing is on the PATH, and npx finds the program. */
export const asTyped = (text: string, isCheckout: boolean): string =>
  isCheckout ? text.replace(NAMED, 'npx cursordex ') : text

/**
 * Adds the commands. Loaded are the default command and every command whose name is among the arguments. For help, which
 * lists the arguments of each command, all are loaded. For the others only the name and the description are added.
 */
export async function addCommands(
  program: Command,
  session: Session,
  argv: readonly string[],
  place: Place,
): Promise<void> {
  const isHelp = argv.some((word) => ['help', '--help', '-h'].includes(word))
  for (const { name, description, load } of commands) {
    if (isHelp || name === SERVE || argv.includes(name)) (await load())(program, session, place)
    else program.command(name)
    program.commands.at(-1)?.description(description)
  }
}
