import { isAbsolute, resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { countText, shownIds, timeText } from '../terminal/formats.ts'
import {
  addDates,
  addExamples,
  addJson,
  addPage,
  queryOf,
  type DateOptions,
  type JsonOption,
  type PageOptions,
  inOwnZone,
} from '../input/options.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { emptyText, notePage } from '../terminal/page-note.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer, type Place, type Session } from '../session.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderTable, type Column } from '../terminal/table.ts'
import { commitsAnswer, type DescribedMatch, type ReportedCommit } from '../../api/http/schemas/commits.ts'

interface CommitsOptions extends JsonOption, PageOptions, DateOptions {
  readonly repo?: string
  readonly chat?: string
  readonly confidence?: string
}

const columns: readonly Column[] = [
  { title: 'commit' },
  { title: 'committed' },
  { title: 'subject', widthMin: 12 },
  { title: 'match' },
  { title: 'chat', widthMin: 12 },
  { title: 'because', widthMin: 8 },
  { title: 'chat id' },
]

/** On a narrow terminal the subject needs the room of the time and the evidence. */
function columnsFor(width: number | null): readonly number[] {
  if (width === null || width >= 100) return [0, 1, 2, 3, 4, 5, 6]
  return width >= 80 ? [0, 2, 3, 4, 5, 6] : [0, 2, 3, 4, 6]
}

const SHA_SHOWN = 9

/** Without `--repo`, the command takes the project that contains the working directory. */
export function addCommitsCommand(program: Command, session: Session, { workingDir }: Place): void {
  const command = program
    .command('commits')
    .option('--repo <project>', 'the project: its name, its id or a folder in it; by default this folder')
  addDates(command)
    .option('--chat <chatId>', `only commits that this chat may have led to: ${CHAT_ID}`)
    .addOption(new Option('--confidence <least>', 'lowest confidence of a match').choices(['low', 'medium', 'high']))
  addJson(addPage(command))
  addExamples(
    command,
    'cursordex commits --from 7d --confidence medium',
    'cursordex commits --repo ~/code/shop --from 2026-01-01 --json',
  )
  command.action(() => commits(command, session, workingDir))
}

async function commits(command: Command, session: Session, workingDir: string): Promise<void> {
  const { json, repo, ...filters } = command.opts<CommitsOptions>()
  await session.ask(command, async (answers) => {
    const isPlace = repo === undefined || isAbsolute(repo) || repo.startsWith('.')
    const named = isPlace ? resolve(workingDir, repo ?? '.') : repo
    const chat = filters.chat === undefined ? undefined : await completeChatId(answers, filters.chat)
    const query = queryOf({ repo: named, ...inOwnZone(filters, session.screen), chat })
    const answer = await answers.get('/api/commits', query)
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const list = decodeAnswer(commitsAnswer, answer)
    const shown = columnsFor(session.screen.width)
    const pick = <Value>(values: readonly Value[]): Value[] => shown.flatMap((index) => values[index] ?? [])
    const ids = list.items.flatMap(({ chats }) => chats.map(({ id }) => id))
    const short = shownIds(ids, session.screen)
    const rows = list.items.flatMap((commit) => commitRows(commit, short, session.screen))
    if (rows.length === 0) await session.note(`${emptyText(list, 'No commits.')}\n`)
    else await session.print(renderTable(pick(columns), rows.map(pick), session.screen))
    await notePage(session, list, filters)
  })
}

/** One line for each chat. A terminal shows the commit once; programs get it in every line. */
function commitRows(
  { sha, committedAt, subject, chats }: ReportedCommit,
  short: (id: string) => string,
  screen: Screen,
): string[][] {
  const [shown, blank] = [
    [sha.slice(0, SHA_SHOWN), timeText(committedAt, screen), subject],
    ['', '', ''],
  ]
  if (chats.length === 0) return [[...shown, '-', '-', '-', '-']]
  return chats.map((chat, index) => [
    ...(index === 0 || screen.width === null ? shown : blank),
    chat.confidence,
    chat.title,
    becauseOf(chat),
    short(chat.id),
  ])
}

/** `3 files, 12 messages`. */
function becauseOf({ evidence: { time, files, tracking } }: DescribedMatch): string {
  const words = [
    ...(files === null
      ? []
      : [`${countText(files.paths.length, 'file')}${files.when === 'earlier' ? ' earlier' : ''}`]),
    ...(time === null ? [] : [countText(time.messages, 'message')]),
    ...(tracking === null || tracking === undefined ? [] : ['code recorded then']),
  ]
  return words.join(', ')
}
