import type { Command } from 'commander'
import { numberText, timeText } from '../terminal/formats.ts'
import { addExamples, addJson, addPage, queryOf, type JsonOption, type PageOptions } from '../input/options.ts'
import { emptyText, notePage } from '../terminal/page-note.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import { projectsAnswer } from '../../api/http/schemas/projects.ts'

const columns: readonly Column[] = [
  { title: 'last activity' },
  { title: 'name', widthMin: 8 },
  { title: 'chats', align: 'right' },
  { title: 'messages', align: 'right' },
  { title: 'path', widthMin: 12 },
]

export function addProjectsCommand(program: Command, session: Session): void {
  const command = program.command('projects')
  addJson(addPage(command))
  addExamples(command, 'cursordex projects', 'cursordex projects --limit 200 --json')
  command.action(() => projects(command, session))
}

async function projects(command: Command, session: Session): Promise<void> {
  const { json, ...page } = command.opts<JsonOption & PageOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/projects', queryOf({ ...page }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const list = decodeAnswer(projectsAnswer, answer)
    const rows = list.items.map(({ name, path, remote, chatCount, messageCount, lastActivityAt }) => [
      timeText(lastActivityAt, session.screen),
      name,
      numberText(chatCount),
      numberText(messageCount),
      remote === null ? path : `${remote.kind}:${remote.host} ${path}`,
    ])
    if (rows.length === 0) await session.note(`${emptyText(list, 'No projects.')}\n`)
    else await session.print(renderTable(columns, rows, session.screen))
    await notePage(session, list, page)
  })
}
