import type { Command } from 'commander'
import { shownIds, timeText } from '../terminal/formats.ts'
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
import { lossesAnswer } from '../../api/http/schemas/chats.ts'

interface LossesOptions extends JsonOption, PageOptions, DateOptions {
  readonly project?: readonly string[]
  readonly machine?: readonly string[]
}

const columns: readonly Column[] = [
  { title: 'noticed' },
  { title: 'kind' },
  { title: 'project', widthMin: 8 },
  { title: 'title', widthMin: 12 },
  { title: 'chat id' },
  { title: 'message id' },
]

/** Without the ids of messages, which are long, everything fits a narrow terminal. */
const columnsFor = (width: number | null): readonly Column[] =>
  width === null || width >= 120 ? columns : columns.slice(0, -1)

export function addLossesCommand(program: Command, session: Session): void {
  const command = program.command('losses')
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  addRepeatable(command, '--machine <machine>', MACHINE)
  addDates(command)
  addJson(addPage(command))
  addExamples(command, 'cursordex losses --from 2026-01-01', 'cursordex losses --project shop --json')
  command.action(() => losses(command, session))
}

async function losses(command: Command, session: Session): Promise<void> {
  const { json, ...filters } = command.opts<LossesOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/losses', queryOf({ ...inOwnZone(filters, session.screen) }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const list = decodeAnswer(lossesAnswer, answer)
    const { screen } = session
    const short = shownIds(
      list.items.map(({ chatId }) => chatId),
      screen,
    )
    const rows = list.items.map(({ at, kind, chatId, messageId, project, title }) => [
      timeText(at, screen),
      kind,
      project?.name ?? '-',
      title,
      short(chatId),
      messageId ?? '-',
    ])
    if (rows.length === 0) {
      await session.note(`${emptyText(list, 'Nothing was lost.')}\n`)
      await noteUnknown(filters, answers, session)
    } else await session.print(renderTable(columnsFor(screen.width), rows, screen))
    await notePage(session, list, filters)
  })
}
