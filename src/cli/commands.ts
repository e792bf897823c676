import type { Command } from 'commander'
import type { Session } from './session.ts'

/** @param name of the command: some modules have several */
type Add = (program: Command, session: Session, name: string) => unknown

/** Every command in the order of the help. */
const descriptions = {
  serve: 'run the daemon in the foreground: mirror the chats and serve the HTTP API',
  demo: 'try it without Cursor, on sample data that grows as if an agent were working',
  search: 'find messages',
  chats: 'list chats',
  show: 'print a chat',
  export: 'write a chat to a file as Markdown, HTML, JSON or JSON lines',
  projects: 'list projects',
  stats: 'show how much was done, by day, project, model and tool',
  tokens: 'show what is known about tokens, each number with its source',
  losses: 'list messages and chats that were deleted in Cursor and are still here, latest first',
  commits: 'list the commits of a project, each with the chats that may have led to it',
  archive: 'archive chats, verify the archives, and restore chats from them',
  purge: 'remove messages for good from the mirror, its index and its archives; shows first what it would remove',
  hub: 'share chats with other machines through a PostgreSQL',
  open: 'open the page in the browser: all chats, one chat, or a search',
  token: 'manage the token that --auth asks for',
  mcp: 'answer an agent over MCP on stdin and stdout; with or without a running daemon',
  service: 'keep the daemon running: start it at each login',
  status: 'show what is mirrored, from where, and whether there are problems',
  sync: 'read changes in Cursor’s files now, and wait until that is done',
  config: 'show each setting, and where it comes from',
  doctor: 'check what needs attention, and what was read from each store',
  completion: 'print a script that completes commands and options in a shell',
} as const

type Name = keyof typeof descriptions

/** Only the code of the used command is loaded. */
const modules: Readonly<Record<Name, () => Promise<{ readonly addCommand: Add }>>> = {
  serve: () => import('./commands/serve.ts'),
  demo: () => import('./commands/serve.ts'),
  search: () => import('./commands/search.ts'),
  chats: () => import('./commands/lists.ts'),
  show: () => import('./commands/show.ts'),
  export: () => import('./commands/export.ts'),
  projects: () => import('./commands/lists.ts'),
  stats: () => import('./commands/stats.ts'),
  tokens: () => import('./commands/tokens.ts'),
  losses: () => import('./commands/lists.ts'),
  commits: () => import('./commands/lists.ts'),
  archive: () => import('./commands/archive.ts'),
  purge: () => import('./commands/purge.ts'),
  hub: () => import('./commands/hub.ts'),
  open: () => import('./commands/open.ts'),
  token: () => import('./commands/token.ts'),
  mcp: () => import('./commands/mcp.ts'),
  service: () => import('./commands/service/service.ts'),
  status: () => import('./commands/status.ts'),
  sync: () => import('./commands/sync.ts'),
  config: () => import('./commands/config.ts'),
  doctor: () => import('./commands/doctor.ts'),
  completion: () => import('./commands/completion.ts'),
}

const names = Object.keys(descriptions) as Name[]

/** Before a command that a text names. */
const NAMED = new RegExp(`(?<=^|[\\s(\`"':])cursordex (?=(?:${names.join('|')}|help)\\b|--)`, 'gm')

/** Commands in a text as the user types them: in a checkout nothing is on the PATH, and npx finds the program. */
export const asTyped = (text: string, isCheckout: boolean): string =>
  isCheckout ? text.replace(NAMED, 'npx cursordex ') : text

/**
 * Adds the commands. Loaded are the default command and every command whose name is among the arguments. For help, which
 * lists the arguments of each command, all are loaded. For the others only the name and the description are added.
 */
export async function addCommands(program: Command, session: Session): Promise<void> {
  const { argv } = session
  const isHelp = argv.some((word) => ['help', '--help', '-h'].includes(word))
  for (const name of names) {
    const isUsed = isHelp || name === 'serve' || argv.includes(name)
    if (isUsed) (await modules[name]()).addCommand(program, session, name)
    else program.command(name)
    program.commands.at(-1)?.description(descriptions[name])
  }
}
