import { type Command, Option } from 'commander'
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
  hasDateField,
  inOwnZone,
  hasDates,
} from '../input/options.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { emptyText, notePage } from '../terminal/page-note.ts'
import { printableJson, printableLine } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { renderTable, type Cell, type Column } from '../terminal/table.ts'
import { refuseWord } from '../input/usage.ts'
import { searchAnswer, type SearchAnswer } from '../../api/http/schemas/search.ts'

const languageHelp = `Search language:
  one two              both words, in any order
  "one two"            the words side by side
  one -two             one without two; quote a literal flag: "-k"
  conf*  *fig*         words that start with conf, words that contain fig
  one OR two           one of them; use parentheses to group: (one OR two) three
  project:shop role:user in:code tool:edit model:gpt mode:agent path:src/api chat:ID
  before:2026-02 after:7d on:yesterday on:"last week" on:2026-Q3
  is:archived is:deleted is:subagent is:orphan has:code has:error has:thinking
  A repeated field matches any of its values. A - before a field excludes it.
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

/** Ids are never cut. On a narrower terminal they would leave no room for the text. */
const IDS_FROM = 130

export function addSearchCommand(program: Command, session: Session): void {
  const command = program
    .command('search')
    .description('find messages')
    .argument('[words...]', 'what to search for (see "Search language")')
    // In the search language a dash excludes a word.
    .allowUnknownOption()
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  addRepeatable(command, '--role <role>', `only messages of this role: ${roles.join(' or ')}`)
  addRepeatable(command, '--in <part>', `only in this kind of part: ${partNames.join(', ')}`)
  addRepeatable(command, '--tool <tool>', 'only messages that call this tool')
  addRepeatable(command, '--model <model>', 'only messages of this model')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode')
  addRepeatable(command, '--path <path>', 'only messages with a tool call, code or attachment of this file or folder')
  addRepeatable(command, '--chat <chatId>', `only this chat: ${CHAT_ID}`)
  addDates(command)
  command.addOption(new Option('--sort <order>', 'order of the results').choices(['relevance', 'newest', 'oldest']))
  command.addOption(new Option('--group <by>', 'show only the best result of each chat').choices(['chat']))
  command.option('--literal', 'do not correct misspelt words')
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
    const dated = inOwnZone(filters, session.screen, hasDates(filters) || hasDateField(q))
    const chat = await Promise.all((filters.chat ?? []).map((word) => completeChatId(answers, word)))
    const answer = await answers.get('/api/search', queryOf({ q, ...dated, chat }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const found = decodeAnswer(searchAnswer, answer)
    await session.print(renderFound(found, session))
    await noteFound(found, filters, session)
    await showRelated(found, session)
  })
}

/** Commander takes `-word` for an unknown option, and after one it passes `--` on as a word. */
const queryText = (words: readonly string[]) => words.filter((word) => word !== '--').join(' ')

/** `-word` is part of the query. `--word` is an error, unless it follows `--`. */
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

/** In a pipe only exact results are printed, because a program cannot tell these apart. `--json` has both. */
async function showRelated({ items, related }: SearchAnswer, session: Session): Promise<void> {
  const { screen } = session
  if (related.length === 0) return
  if (screen.width === null) {
    if (items.length > 0) return
    return session.note(`Closest chats, some words missing: ${numberText(related.length)}. --json lists them.\n`)
  }
  const columns = [...hitColumns, { title: 'missing', widthMin: 8 }, ...(hasIds(session) ? [{ title: 'chat id' }] : [])]
  const rows = related.map(({ message, chat, project, snippet, missing }): Cell[] => {
    const time = localTime(message.createdAt, screen.timeZone)
    return [time, project?.name ?? '-', chat.title, snippetSpans(snippet), missing.join(' '), chat.id]
  })
  await session.print(`\nClosest chats, some words missing:\n${renderTable(columns, rows, screen)}`)
}

async function noteFound(found: SearchAnswer, filters: SearchOptions, session: Session): Promise<void> {
  const warnings = found.warnings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  // A warning already reports the corrected query.
  const others = found.suggestions.filter(({ text }) => text !== found.correctedQuery)
  const suggestions = others.map(suggestionText)
  const nothing = found.items.length === 0 ? [emptyText(found, 'Nothing found.')] : []
  for (const line of [...nothing, ...warnings, ...suggestions]) await session.note(`${printableLine(line)}\n`)
  await notePage(session, found, filters)
  if (found.items.length > 0 && !hasIds(session)) {
    await session.note(`To see the ids for "show", use --json or a window of ${IDS_FROM} columns.\n`)
  }
}

/** The server counts the results of a suggestion only so far. */
const COUNTED_MAX = 1000

/** Names filters as flags, and words as they are typed. */
function suggestionText({ text, reason, count, query, filters }: SearchAnswer['suggestions'][number]): string {
  const found = `${count < COUNTED_MAX ? '' : 'at least '}${countText(count, 'result')}`
  if (reason === 'spelling') return `Did you mean ${text}? (${found})`
  if (reason !== 'without-filter') return `Try: ${text} (${found})`
  // The text starts with the names of the filters.
  const names = query === undefined ? text.split(' ') : (filters ?? [])
  const typed = text.slice(names.join(' ').length).trimStart()
  const things = [...names.map((name) => `--${name}`), ...(typed === '' ? [] : [typed])]
  return `Without ${things.join(' ')}: ${found}`
}
