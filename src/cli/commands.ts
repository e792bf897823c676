import type { Command } from 'commander'
import type { Session } from './session.ts'

/** @param name of the command: some modules have several */
type Add = (program: Command, session: Session, name: string) => unknown

/** The commands in the order of the help, by the modules that have them. Only the code of the used command is loaded. */
const modules: readonly (readonly [names: string, load: () => Promise<{ readonly addCommand: Add }>])[] = [
  ['serve demo', () => import('./commands/serve.ts')],
  ['search', () => import('./commands/search.ts')],
  ['chats projects losses commits', () => import('./commands/lists.ts')],
  ['show', () => import('./commands/show.ts')],
  ['export', () => import('./commands/export.ts')],
  ['stats', () => import('./commands/stats.ts')],
  ['tokens', () => import('./commands/tokens.ts')],
  ['archive', () => import('./commands/archive.ts')],
  ['purge', () => import('./commands/purge.ts')],
  ['hub', () => import('./commands/hub.ts')],
  ['open token', () => import('./commands/open.ts')],
  ['mcp', () => import('./commands/mcp.ts')],
  ['service', () => import('./commands/service/service.ts')],
  ['status sync', () => import('./commands/status.ts')],
  ['config', () => import('./commands/config.ts')],
  ['doctor', () => import('./commands/doctor.ts')],
  ['completion', () => import('./commands/completion.ts')],
]

const commands = modules.flatMap(([names, load]) => names.split(' ').map((name) => ({ name, load })))

/** Before a command that a text names. */
const NAMED = new RegExp(
  `(?<=^|[\\s(\`"':])cursordex (?=(?:${commands.map(({ name }) => name).join('|')}|help)\\b|--)`,
  'gm',
)

/** Commands in a text as the user types them: in a checkout nothing is on the PATH, and npx finds the program. */
export const asTyped = (text: string, isCheckout: boolean): string =>
  isCheckout ? text.replace(NAMED, 'npx cursordex ') : text

/** The same commands for who asks a demo, but for those that do not ask. */
export const ofDemo = (text: string): string =>
  text.replace(NAMED, (name, at: number) =>
    /^(?:serve|demo|service|help|-)|^[^\n"`]*--demo/.test(text.slice(at + name.length)) ? name : `${name}--demo `,
  )

/** These print no answer of a route. */
const WITHOUT_JSON: ReadonlySet<string> = new Set('serve demo export open token mcp service completion'.split(' '))

/** Adds `--json` to a command and those below it, but to those that only have others below them. */
function addJson(command: Command): void {
  if (WITHOUT_JSON.has(command.name())) return
  command.commands.forEach(addJson)
  if (command.commands.length === 0 || command.options.length > 0) command.option('--json', 'print the answer as JSON')
}

/**
 * Adds the commands. Loaded are the default command and every command whose name is among the arguments; all of them for
 * help and completion, which list them. Of the others only the name is added.
 */
export async function addCommands(program: Command, session: Session): Promise<void> {
  const { argv } = session
  const isHelp = argv.some((word) => ['help', '--help', '-h', 'completion'].includes(word))
  for (const { name, load } of commands) {
    if (!isHelp && name !== 'serve' && !argv.includes(name)) program.command(name)
    else (await load()).addCommand(program, session, name)
  }
  program.commands.forEach(addJson)
}
