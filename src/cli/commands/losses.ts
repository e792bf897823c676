import type { Command } from 'commander'
import { lossesAnswer } from '../../api/http/schemas/chats.ts'
import { addDates, addExamples, addFilters, addJson, addPage } from '../input/options.ts'
import type { Session } from '../session.ts'
import { listOf, printList } from './list.ts'

const list = listOf({
  path: '/api/losses',
  schema: lossesAnswer,
  rowsOf: ({ items }) => items,
  nothing: 'Nothing was lost.',
  columns: [
    { title: 'noticed', as: 'time', read: ({ at }) => at },
    { title: 'kind', read: ({ kind }) => kind },
    { title: 'project', widthMin: 8, read: ({ project }) => project?.name ?? null },
    { title: 'title', widthMin: 12, read: ({ title }) => title },
    { title: 'chat id', as: 'id', read: ({ chatId }) => chatId },
    // The ids of messages are long.
    { title: 'message id', from: 120, read: ({ messageId }) => messageId },
  ],
})

export function addCommand(program: Command, session: Session): void {
  const command = program.command('losses')
  addDates(addFilters(command, 'project', 'machine'))
  addJson(addPage(command))
  addExamples(command, 'cursordex losses --from 2026-01-01', 'cursordex losses --project shop --json')
  command.action(() => session.ask(command, (answers) => printList(list, answers, command, session)))
}
