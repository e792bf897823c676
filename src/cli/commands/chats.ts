import { Option, type Command } from 'commander'
import { chatsAnswer } from '../../api/http/schemas/chats.ts'
import { addDates, addExamples, addFilters, addJson, addPage, addRepeatable } from '../input/options.ts'
import type { Session } from '../session.ts'
import { machineText } from '../terminal/formats.ts'
import { listOf, printList } from './list.ts'

const list = listOf({
  path: '/api/chats',
  schema: chatsAnswer,
  nothing: 'No chats.',
  rowsOf: ({ items }) => items,
  columns: [
    { title: 'last activity', as: 'time', read: ({ lastActivityAt }) => lastActivityAt },
    { title: 'project', widthMin: 8, read: ({ project }) => project?.name ?? null },
    { title: 'title', widthMin: 12, read: ({ title }) => title },
    { title: 'messages', align: 'right', read: ({ messageCount }) => messageCount },
    { title: 'id', as: 'id', read: ({ id }) => id },
    // The last column, so that programs find the others where they were.
    {
      title: 'machine',
      widthMin: 8,
      read: ({ machine }) => machineText(machine),
      isNeededFor: ({ machine }) => machine !== null,
    },
  ],
})

export function addCommand(program: Command, session: Session): void {
  const command = program.command('chats')
  addFilters(command, 'project')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode, such as agent')
  addRepeatable(command, '--model <model>', 'only chats of this model')
  addFilters(command, 'machine')
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
  command.action(() => session.ask(command, (answers) => printList(list, answers, command, session)))
}
