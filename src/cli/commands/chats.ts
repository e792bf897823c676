import { Option, type Command } from 'commander'
import { countText, machineText, numberText, shownIds, timeText } from '../terminal/formats.ts'
import {
  addDates,
  addExamples,
  addJson,
  addPage,
  addRepeatable,
  MACHINE,
  queryOf,
  type DateOptions,
  type JsonOption,
  type PageOptions,
  inOwnZone,
} from '../input/options.ts'
import { noteUnknown } from '../input/note-unknown.ts'
import { emptyText, notePage } from '../terminal/page-note.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import { chatsAnswer } from '../../api/http/schemas/chats.ts'

interface ChatsOptions extends JsonOption, PageOptions, DateOptions {
  readonly project?: readonly string[]
  readonly machine?: readonly string[]
  readonly mode?: readonly string[]
  readonly model?: readonly string[]
  readonly archived?: true
  readonly deleted?: true
  readonly subagents?: true
  readonly includeEmpty?: true
  readonly q?: string
  readonly sort?: string
}

const columns: readonly Column[] = [
  { title: 'last activity' },
  { title: 'project', widthMin: 8 },
  { title: 'title', widthMin: 12 },
  { title: 'messages', align: 'right' },
  { title: 'id' },
]

/** The last column, so that programs find the others where they were. */
const machineColumn: Column = { title: 'machine', widthMin: 8 }

export function addChatsCommand(program: Command, session: Session): void {
  const command = program.command('chats')
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode, such as agent')
  addRepeatable(command, '--model <model>', 'only chats of this model')
  addRepeatable(command, '--machine <machine>', MACHINE)
  addDates(command)
  command
    .option('--archived', 'only chats that are archived in Cursor')
    .option('--deleted', 'only chats that were deleted in Cursor')
    .option('--subagents', 'also list chats of subagents')
    .option('--include-empty', 'also list drafts and chats without messages')
    .option('-q <words>', 'only chats with a similar title')
    .addOption(
      new Option('--sort <order>', 'order of the chats; by default newest').choices([
        'newest',
        'oldest',
        'size',
        'messages',
      ]),
    )
  addJson(addPage(command))
  addExamples(command, 'cursordex chats --project shop --from 2026-01-01', 'cursordex chats -q "login bug" --json')
  command.action(() => chats(command, session))
}

async function chats(command: Command, session: Session): Promise<void> {
  const { json, ...filters } = command.opts<ChatsOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/chats', queryOf({ ...inOwnZone(filters, session.screen) }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const list = decodeAnswer(chatsAnswer, answer)
    const { screen } = session
    const short = shownIds(
      list.items.map(({ id }) => id),
      screen,
    )
    const hasMachines = list.items.some(({ machine }) => machine !== null)
    const rows = list.items.map(({ id, title, project, lastActivityAt, messageCount, machine }) => [
      timeText(lastActivityAt, screen),
      project?.name ?? '-',
      title,
      numberText(messageCount),
      short(id),
      ...(hasMachines ? [machineText(machine)] : []),
    ])
    if (rows.length === 0) {
      await session.note(`${emptyText(list, 'No chats.')}\n`)
      await noteUnknown(filters, answers, session)
    } else await session.print(renderTable(hasMachines ? [...columns, machineColumn] : columns, rows, screen))
    const { undated = 0 } = list
    if (undated > 0) await session.note(`${countText(undated, 'more chat')} without a date.\n`)
    await notePage(session, list, filters)
  })
}
