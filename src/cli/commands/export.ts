import { Option, type Command } from 'commander'
import { exportFormats, type ExportFormat } from '../../api/export/formats.ts'
import { addExamples, queryOf, type JsonOption } from '../input/options.ts'
import { pathPart, refuseEmpty } from '../input/refuse-empty.ts'
import { printable, printableJsonText, printableLine } from '../../text/printable.ts'
import type { Session } from '../session.ts'
import { writePrivately } from './write-privately.ts'

interface ExportOptions extends JsonOption {
  readonly as?: ExportFormat
  readonly output?: string
  readonly force?: true
  readonly orphans?: true
  readonly redact?: true
}

export function addExportCommand(program: Command, session: Session): void {
  const command = program
    .command('export')
    .description('write a chat as a file to read, to keep or to work with')
    .argument('<chatId>', 'its id, as "chats" and "search" list it')
    .addOption(new Option('--as <format>', 'what to write; markdown where nothing is said').choices(exportFormats))
    .option('--output <file>', 'to a new file that only you can read, instead of stdout (-)')
    .option('--force', 'overwrite that file where it is there already')
    .option('--orphans', 'also messages that the chat names no more, at the end')
    .option('--redact', 'mask keys, tokens and passwords, and tell of what kind and how many they were')
    .addOption(new Option('--json', 'the same as --as json').conflicts('as'))
  addExamples(
    command,
    'cursordex export 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9 > login-bug.md',
    'cursordex export 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9 --as html --output login-bug.html',
  )
  command.action((chatId: string) => exportChat(chatId, command, session))
}

async function exportChat(chatId: string, command: Command, session: Session): Promise<void> {
  const { as, json, output, force, orphans, redact } = command.opts<ExportOptions>()
  refuseEmpty({ '--output': output })
  const format = json === true ? 'json' : (as ?? 'markdown')
  const path = `/api/chats/${pathPart('chatId', chatId)}/export`
  await session.ask(command, async (answers) => {
    const end = new FileEnd()
    const text = end.of(answers.text(path, queryOf({ as: format, includeOrphans: orphans, redact })))
    const tell = async (): Promise<void> => {
      if (redact === true) await session.note(`${printableLine(end.maskedSentence)}\n`)
    }
    if (output !== undefined && output !== '-') {
      await writePrivately(output, text, force === true)
      return tell()
    }
    const shown = session.screen.width === null ? verbatim : terminalText[format]
    for await (const stretch of text) await session.print(shown(stretch))
    await tell()
  })
}

const verbatim = (text: string): string => text

/** How each format is kept from steering a terminal, where a JSON text must stay one. */
const terminalText: Readonly<Record<ExportFormat, (text: string) => string>> = {
  markdown: printable,
  json: printableJsonText,
  jsonl: printableJsonText,
  html: printable,
}

/** More than the account of what was masked can be long. UTF-16 units. */
const KEPT = 16 * 1024

/** Watches a text go by, and keeps its end. */
export class FileEnd {
  #end = ''

  async *of(text: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const stretch of text) {
      this.#end = (this.#end + stretch).slice(-KEPT)
      yield stretch
    }
  }

  /** What the file says of what was masked in it, in words for a person, whatever its format. */
  get maskedSentence(): string {
    const sentences = [...this.#end.matchAll(/Masked in this file: [^<\n]*\./g)]
    const list = /"masked":(\[[^\]]*\])\}\s*$/.exec(this.#end)?.[1]
    if (list === undefined) return sentences.at(-1)?.[0] ?? 'The file does not tell what was masked in it.'
    const counts = JSON.parse(list) as readonly { readonly kind: string; readonly count: number }[]
    const words = counts.map(({ kind, count }) => `${count} ${kind}`)
    return `Masked in this file: ${words.length === 0 ? 'nothing' : words.join(', ')}.`
  }
}
