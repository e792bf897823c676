import { Argument, type Command } from 'commander'
import { addExamples } from '../../input/options.ts'
import type { Session } from '../../session.ts'
import { clients, installIn, type McpClient } from './install.ts'

interface McpOptions {
  readonly redact: boolean
}

export function addCommand(program: Command, session: Session): void {
  const command = program.command('mcp').option('--no-redact', 'show secrets as they are')
  addExamples(command, 'cursordex mcp', 'cursordex mcp install cursor')
  command.action(() => serve(command, session))

  const install = command
    .command('install')
    .description('add cursordex to an agent, after showing the change')
    .addArgument(new Argument('<client>', 'the agent').choices(clients))
    .option('--remove', 'take it out again')
    .option('--yes', 'make the change; without this it is only shown')
    .option('--file <file>', 'the config file, if it is not at its usual place')
  addExamples(install, 'cursordex mcp install cursor', 'cursordex mcp install claude --remove')
  install.action((client: McpClient) => installIn(client, install, session))
}

/** Until the client closes its end. Nothing else may be written to stdout. */
async function serve(command: Command, session: Session): Promise<void> {
  const { redact } = command.opts<McpOptions>()
  await session.ask(command, async (answers) => {
    const [{ createMcpServer }, { queryOf }, { StdioServerTransport }] = await Promise.all([
      import('../../../api/mcp/server.ts'),
      import('../../../api/mcp/source.ts'),
      import('@modelcontextprotocol/server/stdio'),
    ])
    const source = {
      version: session.version,
      now: Date.now,
      get: (path: string, query = {}) => answers.get(path, queryOf(query)),
    }
    const server = createMcpServer(source, { isRedacted: redact })
    const ended = new Promise<void>((resolve) => {
      // The SDK has no events.
      // oxlint-disable-next-line prefer-add-event-listener
      server.server.onclose = resolve
    })
    await server.connect(new StdioServerTransport())
    await ended
  })
}
