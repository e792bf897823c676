import { resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { exportFormats, type ExportFormat } from '../../api/export/formats.ts'
import { piecesOf } from '../client/client.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import type { Options } from '../input/options.ts'
import { printable, printableJsonText } from '../../text/printable.ts'
import type { Session } from '../session.ts'
import { writePrivately } from '../input/files.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('export')
    .description('write a chat to a file as Markdown, HTML, JSON or JSON lines')
    .argument('<chatId>', `the chat: ${CHAT_ID}`)
    .addOption(new Option('--as <format>', 'format of the file; by default markdown').choices([...exportFormats, 'md']))
    .option('--output <file>', 'the new file, which only you can read; - is stdout')
    .option('--force', 'overwrite the file if it exists')
    .option('--orphans', 'also messages that the chat no longer lists, at the end')
    .option('--redact', 'mask keys, tokens and passwords that a rule knows; the end of the file says how many')
    .addOption(new Option('--json', 'the same as --as json').conflicts('as'))
  const example = 'cursordex export 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
  const examples = [`${example} > login-bug.md`, `${example} --as html --output login-bug.html`] as const
  // On a terminal it writes a file with the name that the route gives, elsewhere to stdout.
  session.asks(command, examples, async (answers, given: string) => {
    const { as, json, output, force, orphans, redact } = command.opts<Options & { readonly as?: ExportFormat | 'md' }>()
    const format = json === true ? 'json' : as === undefined || as === 'md' ? 'markdown' : as
    const id = await completeChatId(answers, given)
    const query = { as: format, includeOrphans: orphans, redact }
    const response = await answers.open('/api/chats/:id/export', { id, query })
    const [, name] = /filename="([^"/\\]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
    const file = output ?? (session.screen.width === null ? '-' : (name ?? `chat.${format}`))
    if (file === '-') {
      const shown = session.screen.width === null ? (text: string) => text : onTerminal(format)
      for await (const piece of piecesOf(response)) await session.print(shown(piece))
      return
    }
    await writePrivately(resolve(session.workingDir, file), piecesOf(response), force === true)
    if (output === undefined) await session.print(`Written: ${file}\n`)
    if (redact === true) await session.note('The end of the file says what was masked.\n')
  })
}

/** Removes terminal control characters. The result stays valid in each format. */
const onTerminal = (format: ExportFormat) => (format.startsWith('json') ? printableJsonText : printable)
