import { type Command, Option } from 'commander'
import { z } from 'zod'
import { partNames } from '../../api/search/language/tree.ts'
import { roles } from '../../model/message.ts'
import { countText, localTime, numberText } from '../terminal/formats.ts'
import { snippetSpans } from '../terminal/highlight.ts'
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
} from '../input/options.ts'
import { emptyText, notePage } from '../terminal/page-note.ts'
import { printableJson, printableLine } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { renderTable, type Cell, type Column } from '../terminal/table.ts'
import { refuseWord } from '../input/usage.ts'
import { holdsDateField, inOwnZone, namesDates } from '../input/typed-dates.ts'

const hit = z.object({
  message: z.object({ id: z.string(), chatId: z.string(), createdAt: z.string().nullable() }),
  chat: z.object({ id: z.string(), title: z.string() }),
  project: z.object({ name: z.string() }).nullable(),
  snippet: z.string(),
  matchCount: z.number().optional(),
})

const searchAnswer = z.object({
  correctedQuery: z.string().nullable().default(null),
  total: z.number(),
  totalIsExact: z.boolean().optional(),
  offset: z.number().optional(),
  limit: z.number().optional(),
  items: z.array(hit),
  related: z.array(hit.extend({ missing: z.array(z.string()) })).default([]),
  suggestions: z
    .array(
      z.object({
        text: z.string(),
        reason: z.string(),
        count: z.number(),
        query: z.string().optional(),
        filters: z.array(z.string()).default([]),
      }),
    )
    .default([]),
  warnings: z.array(z.unknown()).default([]),
})
type SearchAnswer = z.infer<typeof searchAnswer>

const languageHelp = `The words of a search:
  one two              both of them, in any order
  "one two"            side by side
  one -two             without the other; a literal flag is quoted: "-k"
  conf*  *fig*         what begins so, what holds it
  one OR two           either; parentheses group: (one OR two) three
  project:shop role:user in:code tool:edit model:gpt mode:agent path:src/api chat:ID
  before:2026-02 after:7d on:yesterday on:"last week" on:2026-Q3
  is:archived is:deleted is:subagent is:orphan has:code has:error has:thinking
  A field that is repeated means any of its values; - before one excludes it.
`

interface SearchOptions extends JsonOption, PageOptions, DateOptions {
  readonly project?: readonly string[]
  readonly role?: readonly string[]
  readonly in?: readonly string[]
  readonly tool?: readonly string[]
  readonly model?: readonly string[]
  readonly mode?: readonly string[]
  readonly path?: readonly string[]
  readonly chat?: readonly string[]
  readonly sort?: string
  readonly group?: string
  readonly literal?: true
}

/** An id is of use only whole, and on a narrower terminal it would leave no room for the text. */
const IDS_FROM = 130

export function addSearchCommand(program: Command, session: Session): void {
  const command = program
    .command('search')
    .description('find messages')
    .argument('[words...]', 'what to search for, as told below')
    // A word with a dash before it is the search language's way to exclude.
    .allowUnknownOption()
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  addRepeatable(command, '--role <role>', `only messages of this role: ${roles.join(' or ')}`)
  addRepeatable(command, '--in <part>', `only in this kind of part: ${partNames.join(', ')}`)
  addRepeatable(command, '--tool <tool>', 'only messages that call this tool')
  addRepeatable(command, '--model <model>', 'only messages of this model')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode')
  addRepeatable(command, '--path <path>', 'only messages with a tool, code or attachment of this file or folder')
  addRepeatable(command, '--chat <chatId>', 'only this chat')
  addDates(command)
  command.addOption(new Option('--sort <order>', 'order of the results').choices(['relevance', 'newest', 'oldest']))
  command.addOption(new Option('--group <by>', 'one result a chat, its best').choices(['chat']))
  command.option('--literal', 'only what was typed: a misspelt word is not replaced where nothing is found')
  addJson(addPage(command))
  command.addHelpText('after', `\n${languageHelp}`)
  addExamples(
    command,
    'cursordex search connection pool --project shop --from 2026-01-01',
    "cursordex search '(tool:edit OR tool:write) migration -test after:7d' --sort newest --json",
  )
  command.action(() => search(command, session))
}

async function search(command: Command, session: Session): Promise<void> {
  refuseUnknownOptions(command, session.argv)
  const { json, ...filters } = command.opts<SearchOptions>()
  await session.ask(command, async (answers) => {
    const q = queryText(command.args)
    const dated = inOwnZone(filters, session.screen, namesDates(filters) || holdsDateField(q))
    const answer = await answers.get('/api/search', queryOf({ q, ...dated }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const found = decodeAnswer(searchAnswer, answer)
    await session.print(renderFound(found, session))
    await noteFound(found, filters, session)
    await showRelated(found, session)
  })
}

/** Behind an unknown option, and `-word` is one to Commander, a `--` is handed on like a word. */
const queryText = (words: readonly string[]) => words.filter((word) => word !== '--').join(' ')

/** `-word` is a query, `--word` is a mistake, unless it stands behind `--`. */
function refuseUnknownOptions(command: Command, argv: readonly string[]): void {
  const end = argv.indexOf('--')
  const flags = end < 0 ? argv : argv.slice(0, end)
  const unknown = command.args.find((word) => /^--[^\s]/.test(word) && flags.includes(word))
  if (unknown === undefined) return
  const known = [...command.options, ...(command.parent?.options ?? [])].map((option) => option.long ?? '')
  refuseWord(command, 'option', unknown.replace(/=.*/s, ''), known)
}

const hasIds = ({ screen }: Session): boolean => screen.width === null || screen.width >= IDS_FROM

const hitColumns: readonly Column[] = [
  { title: 'time' },
  { title: 'project', widthMin: 8 },
  { title: 'chat', widthMin: 12 },
  { title: 'text', widthMin: 24 },
]

function renderFound(found: SearchAnswer, session: Session): string {
  const { screen } = session
  const columns = [...hitColumns]
  if (hasIds(session)) columns.push({ title: 'chat id' })
  if (screen.width === null) columns.push({ title: 'message id' })
  const rows = found.items.map(({ message, chat, project, snippet, matchCount = 1 }): Cell[] => {
    const time = localTime(message.createdAt, screen.timeZone)
    const title = matchCount > 1 ? `${chat.title} (${matchCount})` : chat.title
    return [time, project?.name ?? '-', title, snippetSpans(snippet), chat.id, message.id].slice(0, columns.length)
  })
  return rows.length === 0 ? '' : renderTable(columns, rows, screen)
}

/** Programs that read a pipe get what was asked for, and these with --json. */
async function showRelated({ items, related }: SearchAnswer, session: Session): Promise<void> {
  const { screen } = session
  if (related.length === 0) return
  if (screen.width === null) {
    if (items.length > 0) return
    return session.note(`Closest chats, not all words: ${numberText(related.length)}. --json lists them.\n`)
  }
  const columns = [...hitColumns, { title: 'lacks', widthMin: 8 }, ...(hasIds(session) ? [{ title: 'chat id' }] : [])]
  const rows = related.map(({ message, chat, project, snippet, missing }): Cell[] => {
    const time = localTime(message.createdAt, screen.timeZone)
    return [time, project?.name ?? '-', chat.title, snippetSpans(snippet), missing.join(' '), chat.id]
  })
  await session.print(`\nClosest chats, not all words:\n${renderTable(columns, rows, screen)}`)
}

async function noteFound(found: SearchAnswer, filters: SearchOptions, session: Session): Promise<void> {
  const warnings = found.warnings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  // That another spelling is shown is said by a warning.
  const others = found.suggestions.filter(({ text }) => text !== found.correctedQuery)
  const suggestions = others.map(suggestionText)
  const nothing = found.items.length === 0 ? [emptyText(found, 'Nothing found.')] : []
  for (const line of [...nothing, ...warnings, ...suggestions]) await session.note(`${printableLine(line)}\n`)
  await notePage(session, found, filters)
  if (found.items.length > 0 && !hasIds(session)) {
    await session.note(`The ids for "show" are told by --json, and in a window of ${IDS_FROM} columns.\n`)
  }
}

/** What a suggestion would find is not counted any further. */
const COUNTED_MAX = 1000

/** What to leave out is told by its flags, or as it is typed; a query to try instead is told as it is typed. */
function suggestionText({ text, reason, count, query, filters }: SearchAnswer['suggestions'][number]): string {
  const found = `${count < COUNTED_MAX ? '' : 'at least '}${countText(count, 'result')}`
  if (reason === 'spelling') return `Did you mean ${text}? (${found})`
  if (reason !== 'without-filter') return `Try: ${text} (${found})`
  // The filters stand first in the text, by their names.
  const names = query === undefined ? text.split(' ') : filters
  const typed = text.slice(names.join(' ').length).trimStart()
  const things = [...names.map((name) => `--${name}`), ...(typed === '' ? [] : [typed])]
  return `Without ${things.join(' ')}: ${found}`
}
