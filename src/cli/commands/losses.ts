import type { Command } from 'commander'
import { localTime } from '../terminal/formats.ts'
import {
  addDates,
  addExamples,
  addJson,
  addPage,
  addRepeatable,
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
}

const columns: readonly Column[] = [
  { title: 'noticed' },
  { title: 'kind' },
  { title: 'project', widthMin: 8 },
  { title: 'title', widthMin: 12 },
  { title: 'chat id' },
  { title: 'message id' },
]

/** Ids are never cut, because a part of an id is useless. On a narrow terminal other columns are left out. */
function columnsFor(width: number | null): readonly number[] {
  if (width === null || width >= 140) return [0, 1, 2, 3, 4, 5]
  return width >= 90 ? [0, 1, 3, 4] : [1, 3, 4]
}

export function addLossesCommand(program: Command, session: Session): void {
  const command = program
    .command('losses')
    .description('list messages and chats that were deleted in Cursor and are still here, latest first')
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
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
    const shown = columnsFor(session.screen.width)
    const pick = <Value>(values: readonly Value[]): Value[] => shown.flatMap((index) => values[index] ?? [])
    const rows = list.items.map(({ at, kind, chatId, messageId, project, title }) =>
      pick([localTime(at, session.screen.timeZone), kind, project?.name ?? '-', title, chatId, messageId ?? '-']),
    )
    if (rows.length === 0) {
      await session.note(`${emptyText(list, 'Nothing was lost.')}\n`)
      await noteUnknown(filters, answers, session)
    } else await session.print(renderTable(pick(columns), rows, session.screen))
    await notePage(session, list, filters)
  })
}
