import type { Command } from 'commander'
import { projectsAnswer } from '../../api/http/schemas/projects.ts'
import { addExamples, addJson, addPage } from '../input/options.ts'
import type { Session } from '../session.ts'
import { listOf, printList } from './list.ts'

const list = listOf({
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

export function addCommand(program: Command, session: Session): void {
  const command = program.command('projects')
  addJson(addPage(command))
  addExamples(command, 'cursordex projects', 'cursordex projects --limit 200 --json')
  command.action(() => session.ask(command, (answers) => printList(list, answers, command, session)))
}
