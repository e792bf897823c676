import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Argument, type Command } from 'commander'
import { findProgram } from '../../git/histories.ts'
import { UserError } from '../../model/user-error.ts'
import { editJson, type Flags } from '../../settings.ts'
import { addExamples, type Options, refuseExcess } from '../input/options.ts'
import { readText, ownProgram, writePrivately } from '../input/files.ts'
import type { Session } from '../session.ts'

const clients = ['cursor', 'claude', 'codex'] as const
type McpClient = (typeof clients)[number]

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('mcp')
    .description('answer an agent over MCP on stdin and stdout; with or without a running daemon')
    .option('--no-redact', 'show secrets as they are')
  addExamples(command, 'cursordex mcp', 'cursordex mcp install cursor')
  command.allowExcessArguments().action(() => {
    refuseExcess(command, command.args)
    return serve(command, session)
  })

  const install = command
    .command('install')
    .description('add cursordex to an agent, after showing the change')
    .addArgument(new Argument('<client>', 'the agent').choices(clients))
    .option('--yes', 'make the change; without this it is only shown')
    .option('--file <file>', 'the config file, if it is not at its usual place')
  addExamples(install, 'cursordex mcp install cursor', 'cursordex mcp install claude --yes')
  install.action((client: McpClient) => installIn(client, install, session))
}

/** Until the client closes its end. Nothing else may be written to stdout. */
async function serve(command: Command, session: Session): Promise<void> {
  const { redact = true } = command.opts<Options>()
  await session.ask(command, async (client) => {
    const { createMcpServer, serveStdio } = await import('../../api/mcp/server.ts')
    await serveStdio(createMcpServer({ client, version: session.world.version, isRedacted: redact }))
  })
}

interface InstallOptions extends Flags {
  readonly yes?: true
  readonly file?: string
}

const NAME = 'cursordex'

/** Shows the change that adds cursordex to an agent. With `yes` it is made. */
async function installIn(client: McpClient, command: Command, session: Session): Promise<void> {
  const options = command.optsWithGlobals<InstallOptions>()
  // Absolute paths, because agents start it without a shell.
  const [node, script] = ownProgram()
  const places = [['--data-dir', options.dataDir] as const, ['--config', options.config] as const]
  const flags = places.flatMap(([flag, path]) => (path === undefined ? [] : [flag, resolve(session.workingDir, path)]))
  const args = [script, 'mcp', ...flags]
  if (client === 'cursor') return installInCursor({ command: node, args }, options, session)
  return installByCommand(client, ['mcp', 'add', NAME, '--', node, ...args], options, session)
}

async function installInCursor(
  launch: { readonly command: string; readonly args: readonly string[] },
  { yes, file }: InstallOptions,
  session: Session,
): Promise<void> {
  const path = file ?? join(session.world.homeDir, '.cursor', 'mcp.json')
  const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined
  const before = isNew ? '' : readText(path, CONFIG_BYTES_MAX, 'Repair it, or name another file with --file.')
  const after = editJson(path, before, ['mcpServers', NAME], launch)
  if (after === before) return session.print(`${path} needs no change.\n`)
  await session.print(`In ${path}, mcpServers.${NAME} becomes ${JSON.stringify(launch, null, 2)}\n`)
  if (yes !== true) return session.print('\nNothing was changed. Add --yes to make this change.\n')
  mkdirSync(dirname(path), { recursive: true })
  // Cursor never reads half a file, and its mode stays.
  await writePrivately(path, [after], true, isNew ? undefined : statSync(path).mode)
  await session.print('\nDone. Restart Cursor, or switch the server on in its settings.\n')
}

const CONFIG_BYTES_MAX = 16 * 1024 * 1024

async function installByCommand(
  client: McpClient,
  argv: readonly string[],
  { yes }: InstallOptions,
  session: Session,
): Promise<void> {
  const shown = [client, ...argv].map((word) => (/^[\w./:@=-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
  const program = findProgram(client, session.world.env, ['.exe', '.cmd'])
  if (program === null) return session.print(`${client} is not on your PATH. Run this where it is:\n\n  ${shown}\n`)
  if (yes !== true) return session.print(`This would run:\n\n  ${shown}\n\nNothing was changed. Add --yes to run it.\n`)
  const { status, error } = spawnSync(program, argv, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (error !== undefined || status !== 0) {
    const text = `${client} failed${status === null ? '' : ` with exit code ${status}`}.`
    throw new UserError('install-failed', text, `Run it yourself: ${shown}`)
  }
}
