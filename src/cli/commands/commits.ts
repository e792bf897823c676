import { isAbsolute, resolve } from 'node:path'
import type { Command } from 'commander'
import { countText } from '../terminal/formats.ts'
import { addDates, addExamples, addJson, addPage } from '../input/options.ts'
import { listOf, printList } from './list.ts'
import type { Place, Session } from '../session.ts'
import type { Screen } from '../terminal/screen.ts'
import { commitsAnswer, type DescribedMatch, type ReportedCommit } from '../../api/answers/commits.ts'

const SHA_SHOWN = 9

/** Without `--repo`, the command takes the project that contains the working directory. */
export function addCommand(program: Command, session: Session, { workingDir }: Place): void {
  const command = program
    .command('commits')
    .option('--repo <project>', 'the project: its name, its id or a folder in it; by default this folder')
  addJson(addPage(addDates(command)))
  addExamples(command, 'cursordex commits --from 7d', 'cursordex commits --repo ~/code/shop --from 2026-01-01 --json')
  command.action(() =>
    session.ask(command, async (answers) => {
      const { repo = '.' } = command.opts<{ readonly repo?: string }>()
      const isPlace = isAbsolute(repo) || repo.startsWith('.')
      await printList(list, answers, command, session, { repo: isPlace ? resolve(workingDir, repo) : repo })
    }),
  )
}

/** A line for each chat of a commit. Programs get the commit in every line, and a terminal shows it once. */
interface CommitRow {
  readonly commit: ReportedCommit | null
  readonly chat: DescribedMatch | null
}

function rowsOf(commit: ReportedCommit, { width }: Screen): CommitRow[] {
  if (commit.chats.length === 0) return [{ commit, chat: null }]
  return commit.chats.map((chat, index) => ({ commit: index === 0 || width === null ? commit : null, chat }))
}

/** On a narrow terminal the subject needs the room of the time and the evidence. */
const list = listOf({
  path: '/api/commits',
  schema: commitsAnswer,
  nothing: 'No commits.',
  rowsOf: ({ items }, screen) => items.flatMap((commit) => rowsOf(commit, screen)),
  columns: [
    { title: 'commit', read: ({ commit }) => commit?.sha.slice(0, SHA_SHOWN) ?? '' },
    { title: 'committed', as: 'time', from: 100, read: ({ commit }) => (commit === null ? '' : commit.committedAt) },
    { title: 'subject', widthMin: 12, read: ({ commit }) => commit?.subject ?? '' },
    { title: 'match', read: ({ chat }) => chat?.confidence ?? null },
    { title: 'chat', widthMin: 12, read: ({ chat }) => chat?.title ?? null },
    { title: 'because', widthMin: 8, from: 80, read: ({ chat }) => (chat === null ? null : becauseOf(chat)) },
    { title: 'chat id', as: 'id', read: ({ chat }) => chat?.id ?? null },
  ],
})

/** `3 files, 12 messages`. */
function becauseOf({ evidence: { time, files, tracking } }: DescribedMatch): string {
  const words = [
    files === null ? '' : countText(files.paths.length, 'file'),
    time === null ? '' : countText(time.messages, 'message'),
    tracking === null || tracking === undefined ? '' : 'code recorded then',
  ]
  return words.filter((word) => word !== '').join(', ')
}
