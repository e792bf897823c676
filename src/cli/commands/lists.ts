import { Option, type Command } from 'commander'
import { chatsAnswer, lossesAnswer } from '../../api/answers/chats.ts'
import { projectsAnswer } from '../../api/answers/projects.ts'
import { addDates, addExamples, addFilters, addJson, addPage, addRepeatable } from '../input/options.ts'
import type { Session } from '../session.ts'
import { machineText } from '../terminal/formats.ts'
import { listOf, printList } from './list.ts'

const chats = listOf({
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

export function addChats(program: Command, session: Session): void {
  const command = program.command('chats')
  const orders = ['newest', 'oldest', 'size', 'messages']
  addFilters(command, 'project')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode, such as agent')
  addRepeatable(command, '--model <model>', 'only chats of this model')
  addDates(addFilters(command, 'machine'))
    .option('--archived', 'only chats that are archived in Cursor')
    .option('--deleted', 'only chats that were deleted in Cursor')
    .option('--subagents', 'also list chats of subagents')
    .option('--include-empty', 'also list drafts and chats without messages')
    .option('-q <words>', 'only chats with a similar title')
    .addOption(new Option('--sort <order>', 'order of the chats; by default newest').choices(orders))
  addJson(addPage(command)).action(() => session.ask(command, (answers) => printList(chats, answers, command, session)))
  addExamples(command, 'cursordex chats --project shop --from 2026-01-01', 'cursordex chats -q "login bug" --json')
}

const projects = listOf({
  path: '/api/projects',
  schema: projectsAnswer,
  nothing: 'No projects.',
  rowsOf: ({ items }) => items,
  columns: [
    { title: 'last activity', as: 'time', read: ({ lastActivityAt }) => lastActivityAt },
    { title: 'name', widthMin: 8, read: ({ name }) => name },
    { title: 'chats', align: 'right', read: ({ chatCount }) => chatCount },
    { title: 'messages', align: 'right', read: ({ messageCount }) => messageCount },
    {
      title: 'path',
      widthMin: 12,
      read: ({ path, remote }) => (remote === null ? path : `${remote.kind}:${remote.host} ${path}`),
    },
  ],
})

export function addProjects(program: Command, session: Session): void {
  const command = addJson(addPage(program.command('projects')))
  command.action(() => session.ask(command, (answers) => printList(projects, answers, command, session)))
  addExamples(command, 'cursordex projects', 'cursordex projects --limit 200 --json')
}

const losses = listOf({
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

export function addLosses(program: Command, session: Session): void {
  const command = addFilters(program.command('losses'), 'project', 'machine')
  addJson(addPage(addDates(command)))
  command.action(() => session.ask(command, (answers) => printList(losses, answers, command, session)))
  addExamples(command, 'cursordex losses --from 2026-01-01', 'cursordex losses --project shop --json')
}
