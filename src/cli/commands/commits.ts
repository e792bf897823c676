import { isAbsolute, resolve, relative } from 'node:path'
import { Option, type Command } from 'commander'
import * as z from 'zod/mini'
import { countText } from '../terminal/formats.ts'
import { addDates, addExamples, addJson, addPage, queryOf, wholeNumber } from '../input/options.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { listOf, printList } from './list.ts'
import { decodeAnswer, type Place, type Session } from '../session.ts'
import type { Screen } from '../terminal/screen.ts'
import { UserError } from '../../model/user-error.ts'
import type { Answers } from '../client/answers.ts'
import { project, projectsAnswer } from '../../api/http/schemas/projects.ts'
import { commitsAnswer, type DescribedMatch, type ReportedCommit } from '../../api/http/schemas/commits.ts'

const SHA_SHOWN = 9

/** Without `--repo`, the command takes the project that contains the working directory. */
export function addCommand(program: Command, session: Session, { workingDir }: Place): void {
  const command = program
    .command('commits')
    .option('--repo <project>', 'the project: its root, name or id; by default the one of this folder')
  addDates(command)
    .option('--chat <chatId>', `only commits that this chat may have led to: ${CHAT_ID}`)
    .addOption(new Option('--confidence <least>', 'lowest confidence of a match').choices(['low', 'medium', 'high']))
    .option(
      '--window <minutes>',
      'how long before a commit its work may have begun, 1 to 1440 minutes',
      wholeNumber(1, 1440),
    )
  addJson(addPage(command))
  addExamples(
    command,
    'cursordex commits --from 7d --confidence medium',
    'cursordex commits --repo ~/code/shop --from 2026-01-01 --json',
  )
  command.action(() =>
    session.ask(command, async (answers) => {
      const { repo, chat } = command.opts<{ readonly repo?: string; readonly chat?: string }>()
      const isPlace = repo === undefined || isAbsolute(repo) || repo.startsWith('.')
      await printList(list, answers, command, session, {
        repo: isPlace ? await nearestProject(answers, resolve(workingDir, repo ?? '.')) : repo,
        chat: chat === undefined ? undefined : await completeChatId(answers, chat),
      })
    }),
  )
}

/** A line for each chat of a commit. Programs get the commit in every line, and a terminal shows it once. */
interface CommitRow {
  readonly commit: ReportedCommit | null
  readonly chat: DescribedMatch | null
}

function rowsOf({ chats, ...commit }: ReportedCommit, { width }: Screen): CommitRow[] {
  const whole = { ...commit, chats }
  if (chats.length === 0) return [{ commit: whole, chat: null }]
  return chats.map((chat, index) => ({ commit: index === 0 || width === null ? whole : null, chat }))
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

/** `3 files, 12 messages, its branch`. */
function becauseOf({ evidence: { time, branch, files, tracking, editedElsewhere } }: DescribedMatch): string {
  const words = [
    ...(files === null
      ? []
      : [`${countText(files.paths.length, 'file')}${files.when === 'earlier' ? ' earlier' : ''}`]),
    ...(time === null ? [] : [time.messages === null ? 'open then' : countText(time.messages, 'message')]),
    ...(tracking === null || tracking === undefined ? [] : ['code recorded then']),
    ...(branch === null ? [] : [branch === 'same' ? 'its branch' : 'another branch']),
    ...(editedElsewhere ? ['edited other files'] : []),
  ]
  return words.join(', ')
}

const placesAnswer = z.extend(z.pick(projectsAnswer, { total: true }), {
  items: z.array(z.pick(project, { id: true, path: true, remote: true })),
})

const PAGE = 200

/**
 * The id of the project that contains a folder. If projects are nested, the innermost one.
 * @param folder an absolute path
 * @throws UserError `no-project`, exit code 2
 */
export async function nearestProject(answers: Answers, folder: string): Promise<string> {
  let found: { readonly id: string; readonly path: string } | null = null
  for (let offset = 0, total = Infinity; offset < total; offset += PAGE) {
    const page = decodeAnswer(placesAnswer, await answers.get('/api/projects', queryOf({ limit: PAGE, offset })))
    total = page.total
    for (const { id, path, remote } of page.items) {
      if (remote === null && contains(path, folder) && path.length > (found?.path.length ?? -1)) found = { id, path }
    }
  }
  if (found !== null) return found.id
  const text = `No known project contains ${folder}.`
  throw new UserError('no-project', text, 'Name a project with --repo. List them with: cursordex projects', {
    exitCode: 2,
  })
}

function contains(root: string, folder: string): boolean {
  const way = relative(root, folder)
  return isAbsolute(root) && !isAbsolute(way) && !/^\.\.([\\/]|$)/.test(way)
}
