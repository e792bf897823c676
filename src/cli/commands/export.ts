import { Option, type Command } from 'commander'
import { exportFormats, type ExportFormat } from '../../api/export/formats.ts'
import { addExamples, queryOf, type Options } from '../input/options.ts'
import { CHAT_ID, completeChatPart } from '../input/chat-id.ts'
import { pathPart, refuseEmpty } from '../input/refuse-empty.ts'
import { printable, printableJsonText, printableLine } from '../../text/printable.ts'
import type { Session } from '../session.ts'
import { writePrivately } from './write-privately.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('export')
    .argument('<chatId>', `the chat: ${CHAT_ID}`)
    .addOption(new Option('--as <format>', 'format of the file; by default markdown').choices([...exportFormats, 'md']))
    .option('--output <file>', 'write to a new file that only you can read, instead of stdout (-)')
    .option('--force', 'overwrite the file if it exists')
    .option('--orphans', 'also messages that the chat no longer lists, at the end')
    .option('--redact', 'mask keys, tokens and passwords that a rule knows, and report how many')
    .addOption(new Option('--json', 'the same as --as json').conflicts('as'))
  const example = 'cursordex export 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
  addExamples(command, `${example} > login-bug.md`, `${example} --as html --output login-bug.html`)
  command.action((chatId: string) => exportChat(chatId, command, session))
}

async function exportChat(chatId: string, command: Command, session: Session): Promise<void> {
  const { as, json, output, force, orphans, redact } = command.opts<Options>()
  refuseEmpty({ '--output': output })
  const format = json === true ? 'json' : as === undefined || as === 'md' ? 'markdown' : as
  const given = pathPart('chatId', chatId)
  await session.ask(command, async (answers) => {
    const path = `/api/chats/${await completeChatPart(answers, given)}/export`
    const query = queryOf({ as: format, includeOrphans: orphans, redact })
    let end = ''
    async function* remembered(): AsyncGenerator<string> {
      for await (const piece of answers.text(path, query)) {
        end = (end + piece).slice(-END_LENGTH)
        yield piece
      }
    }
    if (output !== undefined && output !== '-') await writePrivately(output, remembered(), force === true)
    else {
      const shown = session.screen.width === null ? (text: string) => text : onTerminal(format)
      for await (const piece of remembered()) await session.print(shown(piece))
    }
    if (redact !== true) return
    // The report about masked secrets stands after all text of the chat, in every format.
    const sentences = end.match(/Masked in this file: [^<"\n]*\./g)
    await session.note(`${printableLine(sentences?.at(-1) ?? 'The file does not say what was masked in it.')}\n`)
  })
}

/** Removes terminal control characters. The result stays valid in each format. */
const onTerminal = (format: ExportFormat) => (format.startsWith('json') ? printableJsonText : printable)

/** UTF-16 units. The report of what was masked is always shorter. */
const END_LENGTH = 16 * 1024
