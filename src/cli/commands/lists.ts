import { isAbsolute, resolve } from 'node:path'
import { Option, type Command } from 'commander'
import type { DescribedMatch } from '../../api/answers/chats.ts'
import type { ApiRoutes } from '../../api/http/routes.ts'
import { printableLine } from '../../text/printable.ts'
import type { Answers } from '../client/client.ts'
import { addFilters, addPage, inOwnZone, wantsJson, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { countText, machineText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'

type ListPath = '/api/chats' | '/api/projects' | '/api/losses' | '/api/commits' | '/api/archives'
type Item<Path extends ListPath> = ApiRoutes[`GET ${Path}`]['answer']['items'][number]

/** A command that lists what a route answers in pages. */
interface List<Path extends ListPath, Row = Item<Path>> {
  readonly path: Path
  readonly about: string
  readonly filters: readonly Parameters<typeof addFilters>[1][]
  /** Adds the options that no other list has. */
  readonly options?: (command: Command) => unknown
  /** Parameters that are not options. */
  readonly more?: (command: Command, session: Session) => object
  /** The rows of a table; one for each item if it is not given. */
  readonly rowsOf?: (items: readonly Item<Path>[], screen: Screen) => Row[]
  readonly columns: readonly RowColumn<Row>[]
  /** What is said if the list is empty. */
  readonly nothing: string
  readonly examples: readonly [string, string]
}

const ORDERS = ['newest', 'oldest', 'size', 'messages']

const chats: List<'/api/chats'> = {
  path: '/api/chats',
  about: 'list chats',
  filters: ['project', 'mode', 'model', 'branch', 'machine', 'period'],
  options: (command) =>
    command
      .option('--archived', 'only chats that are archived in Cursor')
      .option('--deleted', 'only chats that were deleted in Cursor')
      .option('--subagents', 'also list chats of subagents')
      .option('--include-empty', 'also list drafts and chats without messages')
      .option('-q <words>', 'only chats with a similar title')
      .addOption(new Option('--sort <order>', 'order of the chats; by default newest').choices(ORDERS)),
  nothing: 'No chats.',
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
  examples: ['cursordex chats --project shop --from 2026-01-01', 'cursordex chats -q "login bug" --json'],
}

const projects: List<'/api/projects'> = {
  path: '/api/projects',
  about: 'list projects',
  filters: [],
  nothing: 'No projects.',
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
  examples: ['cursordex projects', 'cursordex projects --limit 200 --json'],
}

function addMerge(parent: Command, session: Session): void {
  const command = parent
    .command('merge')
    .description('let the chats of a folder that moved belong to its new project, now and later')
    .argument('<old>', 'the former project: its name, path or id')
    .argument('[new]', 'the project to which its chats belong from now on')
    .option('--undo', 'let the chats belong to the former project again')
  const examples = [
    'cursordex projects merge ~/code/shop ~/projects/shop',
    'cursordex projects merge ~/code/shop --undo',
  ] as const
  type Given = { readonly undo?: boolean }
  session.asks(command, examples, async (answers, old: string, target: string | undefined, { undo = false }: Given) => {
    const body = { old: placeOf(old, session), new: target === undefined ? target : placeOf(target, session), undo }
    const merged = await answers.post('/api/merges', { body })
    await session.printAnswer(command, merged, ({ chats: count, ...both }) => [
      undo
        ? `${countText(count, 'chat')} moved back from ${both.new.path} to ${both.old.path}.`
        : `${countText(count, 'chat')} of ${both.old.path} moved to ${both.new.path}. Later ones follow. Undo it with --undo.`,
    ])
  })
}

/** A folder that is given relative to the working folder as a path; a name as it is. */
const placeOf = (word: string, { workingDir }: Session): string =>
  isAbsolute(word) || word.startsWith('.') ? resolve(workingDir, word) : word

const losses: List<'/api/losses'> = {
  path: '/api/losses',
  about: 'list messages and chats that were deleted in Cursor and are still here, latest first',
  filters: ['project', 'machine', 'period'],
  nothing: 'Nothing was lost.',
  columns: [
    { title: 'noticed', as: 'time', read: ({ at }) => at },
    { title: 'kind', read: ({ kind }) => kind },
    { title: 'project', widthMin: 8, read: ({ project }) => project?.name ?? null },
    { title: 'title', widthMin: 12, read: ({ title }) => title },
    { title: 'chat id', as: 'id', read: ({ chatId }) => chatId },
    // The ids of messages are long.
    { title: 'message id', from: 120, read: ({ messageId }) => messageId },
    { title: 'words', widthMin: 12, read: ({ text }) => text },
  ],
  examples: ['cursordex losses --from 2026-01-01', 'cursordex losses --project shop --json'],
}

const SHA_SHOWN = 9

type CommitRow = { readonly commit: Item<'/api/commits'> | null; readonly chat: DescribedMatch | null }

/** A row for each chat of a commit. Programs get the commit in every row, and a terminal shows it once. */
const commits: List<'/api/commits', CommitRow> = {
  path: '/api/commits',
  about: 'list the commits of a project, each with the chats that may have led to it',
  filters: ['period'],
  options: (command) =>
    command.option('--repo <project>', 'the project: its name, its id or a folder in it; by default this folder'),
  more: (command, session) => ({ repo: placeOf(command.opts<{ readonly repo?: string }>().repo ?? '.', session) }),
  rowsOf: (items, { width }) =>
    items.flatMap((commit) => {
      const [first = null, ...others] = commit.chats
      const rows = others.map((chat) => ({ commit: width === null ? commit : null, chat }))
      return [{ commit, chat: first }, ...rows]
    }),
  nothing: 'No commits.',
  columns: [
    { title: 'commit', read: ({ commit }) => commit?.sha.slice(0, SHA_SHOWN) ?? '' },
    // On a narrow terminal the subject needs the room of the time and the evidence.
    { title: 'committed', as: 'time', from: 100, read: ({ commit }) => (commit === null ? '' : commit.committedAt) },
    { title: 'subject', widthMin: 12, read: ({ commit }) => commit?.subject ?? '' },
    { title: 'match', read: ({ chat }) => chat?.confidence ?? null },
    { title: 'chat', widthMin: 12, read: ({ chat }) => chat?.title ?? null },
    { title: 'because', widthMin: 8, from: 80, read: ({ chat }) => (chat === null ? null : becauseOf(chat)) },
    { title: 'chat id', as: 'id', read: ({ chat }) => chat?.id ?? null },
  ],
  examples: ['cursordex commits --from 7d', 'cursordex commits --repo ~/code/shop --from 2026-01-01 --json'],
}

/** `3 files, 12 messages`. */
function becauseOf({ evidence: { time, files, tracking } }: DescribedMatch): string {
  const words = [
    files === null ? '' : countText(files.paths.length, 'file'),
    time === null ? '' : countText(time.messages, 'message'),
    tracking === null || tracking === undefined ? '' : 'code recorded then',
  ]
  return words.filter((word) => word !== '').join(', ')
}

const list: List<'/api/archives'> = {
  path: '/api/archives',
  about: 'list the archives, newest first',
  filters: [],
  nothing: 'There is no archive yet. Make one with: cursordex archive run',
  columns: [
    { title: 'name', read: ({ name }) => name },
    { title: 'state', read: ({ state }) => state },
    { title: 'verified', as: 'time', read: ({ provenAt }) => provenAt },
    { title: 'chats', align: 'right', read: ({ chats: count }) => count },
    { title: 'messages', align: 'right', read: ({ messages }) => messages },
  ],
  examples: ['cursordex archive list', 'cursordex archive list --limit 5 --json'],
}

type Any = List<ListPath, unknown>
/** By the names of their commands. */
const lists: Readonly<Record<string, unknown>> = { chats, projects, losses, commits, list }

/** Adds the command that prints a list as a table, or as it came with `--json`. */
export function addCommand(parent: Command, session: Session, name: string): Command {
  const { about, filters, options, examples, ...given } = lists[name] as Any
  const command = addFilters(parent.command(name).description(about), ...filters)
  options?.(command)
  if (name === 'projects') addMerge(command, session)
  return session.asks(addPage(command), examples, (answers) => printList(given, answers, command, session))
}

async function printList(
  { path, more, rowsOf, columns, nothing }: Omit<Any, 'about' | 'filters' | 'examples'>,
  answers: Answers,
  command: Command,
  session: Session,
): Promise<void> {
  const { json: _, ...given } = command.opts<Options>()
  const { screen } = session
  const query = { ...inOwnZone(given, screen), ...more?.(command, session) }
  const page: Page = await answers.get(path, { query })
  if (page.items.length === 0) await noteUnknown(given, answers, session)
  if (wantsJson(command)) return session.printJson(page)
  const rows = rowsOf?.(page.items as readonly Item<ListPath>[], screen) ?? page.items
  if (rows.length > 0) await session.show(renderRows(columns, rows, screen))
  else await session.note(`${emptyText(page, nothing)}\n`)
  const { undated = 0 } = page
  if (undated > 0) await session.note(`${countText(undated, 'more chat')} without a date.\n`)
  await notePage(session, page, given)
}

/** A page of a list or of a search, which counts up to 1,000. Undated items are those that a date range leaves out. */
type Page = { readonly items: readonly unknown[]; readonly total: number; readonly totalIsExact?: boolean } & {
  readonly [Name in 'offset' | 'limit' | 'undated']?: number | undefined
}

/**
 * Notes on stderr that there are more results, and how to see them. Otherwise a person who counts the lines of a pipe
 * would take one page for everything. A program that passes `--limit` knows that the list is cut.
 */
export async function notePage(session: Session, page: Page, { limit }: Options): Promise<void> {
  const { items, total } = page
  const next = (page.offset ?? 0) + items.length
  const isKnown = session.screen.width === null && limit !== undefined
  const mayHaveMore = page.totalIsExact === false && items.length === page.limit && next <= SEARCH_OFFSET_MAX
  if (isKnown || items.length === 0 || (next >= total && !mayHaveMore)) return
  await session.note(`${numberText(next)} of ${totalText(page)}. See more with --offset ${next}\n`)
}

/** The largest offset of a search. */
const SEARCH_OFFSET_MAX = 10_000

const totalText = ({ total, totalIsExact = true }: Page): string => atLeast(totalIsExact, numberText(total))

/** Why a page is empty: there are no results, or the offset is too large. */
export function emptyText(page: Page, nothing: string): string {
  if (page.total === 0) return nothing
  return `Nothing at --offset ${page.offset ?? 0}. There are ${totalText(page)} results.`
}

/** The filters that take a name, each with the command that lists all names. */
const listedBy = {
  project: 'cursordex projects',
  model: 'cursordex tokens --group-by model',
  mode: 'cursordex stats --json',
  machine: 'cursordex hub status',
} as const

/** Notes which names of the filters no chat has, and ends the run with 1. They may be misspelt, or a part of a name. */
export async function noteUnknown(given: Options, answers: Answers, session: Session): Promise<void> {
  for (const kind of ['project', 'model', 'mode', 'machine'] as const) {
    for (const name of given[kind] ?? []) {
      const query = { [kind]: [name], includeEmpty: true, subagents: true, limit: 1 }
      const { total } = await answers.get('/api/chats', { query })
      if (total > 0) continue
      session.exitCode = 1
      await session.note(`No chat has the ${kind} "${printableLine(name)}". List all with: ${listedBy[kind]}\n`)
    }
  }
}

/** A count that may be a lower bound. */
export const atLeast = (isExact: boolean, count: string): string => `${isExact ? '' : 'at least '}${count}`

/** What a date range leaves out. */
export const undatedText = (messages: number): string =>
  `${countText(messages, 'message')} without a time not counted.\n`
