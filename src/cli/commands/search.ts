import { type Command, Option } from 'commander'
import { partNames } from '../../api/search/query.ts'
import { roles } from '../../model/message.ts'
import type { Answers } from '../client/answers.ts'
import { chatsAnswer } from '../../api/answers/chats.ts'
import { countText, machineText, numberText, timeText } from '../terminal/formats.ts'
import {
  addDates,
  addExamples,
  addFilters,
  addJson,
  addPage,
  addRepeatable,
  hasDateField,
  hasDates,
  inOwnZone,
  queryOf,
  type Options,
} from '../input/options.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { wrap } from '../terminal/text.ts'
import { atLeast, emptyText, notePage } from './list.ts'
import { printableLine } from '../../text/printable.ts'
import { decodeAnswer, readAnswer, type Session } from '../session.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import { renderCards, snippetText } from './search-cards.ts'
import { refuseWord } from '../input/usage.ts'
import { searchAnswer, type SearchAnswer, type SearchHit } from '../../api/answers/search.ts'

const languageHelp = `Search language:
  one two              both words, in any order
  "one two"            the words side by side
  one -two             one without two; quote a literal flag: "-k"
  conf*  *fig*         words that start with conf, words that contain fig
  one OR two           one of them; use parentheses to group: (one OR two) three
  project:shop role:user in:code tool:edit model:gpt mode:agent path:src chat:ID
  machine:laptop machine:ada/laptop machine:local
  before:2026-02 after:7d on:yesterday on:"last week" on:2026-Q3
  is:archived is:deleted is:subagent is:orphan has:code has:error has:thinking
  A repeated field matches any of its values. A - before a field excludes it.
`

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('search')
    .argument('[words...]', 'what to search for (see "Search language")')
    // In the search language a dash excludes a word.
    .allowUnknownOption()
  addFilters(command, 'project')
  addRepeatable(command, '--role <role>', `only messages of this role: ${roles.join(' or ')}`)
  addRepeatable(command, '--in <part>', `only in this kind of part: ${partNames.join(', ')}`)
  addRepeatable(command, '--tool <tool>', 'only messages that call this tool')
  addRepeatable(command, '--model <model>', 'only messages of this model')
  addRepeatable(command, '--mode <mode>', 'only chats of this mode')
  addRepeatable(command, '--path <path>', 'only messages with a tool call, code or attachment of this file or folder')
  addFilters(command, 'machine')
  addRepeatable(command, '--chat <chatId>', `only this chat: ${CHAT_ID}`)
  const orders = ['relevance', 'newest', 'oldest']
  addDates(command)
    .addOption(new Option('--sort <order>', 'order of the results; by default relevance').choices(orders))
    .addOption(new Option('--group <by>', 'show only the best result of each chat').choices(['chat']))
    .option('--literal', 'do not correct misspelt words')
  addJson(addPage(command)).addHelpText('after', `\n${languageHelp}`)
  addExamples(
    command,
    'cursordex search connection pool --project shop --from 2026-01-01',
    "cursordex search '(tool:edit OR tool:write) -test after:7d' --sort newest",
  )
  command.action(() => search(command, session))
}

async function search(command: Command, session: Session): Promise<void> {
  refuseUnknownOptions(command, session.argv)
  const { json: _, ...filters } = command.opts<Options>()
  await session.ask(command, async (answers) => {
    const q = queryText(command.args)
    const dated = inOwnZone(filters, session.screen, hasDates(filters) || hasDateField(q))
    const chat = await Promise.all((filters.chat ?? []).map((word) => completeChatId(answers, word)))
    const answer = await answers.get('/api/search', queryOf({ q, ...dated, chat }))
    const found = await readAnswer(searchAnswer, answer, command, session)
    if (found === null) return
    const { screen } = session
    const isOnTerminal = screen.width !== null
    await session.print(isOnTerminal ? renderCards(found.items, screen) : renderRows(columns, found.items, screen))
    await noteFound(found, filters, answers, session)
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

/** In a pipe a search prints one line for each hit. */
const columns: readonly RowColumn<SearchHit>[] = [
  { title: 'time', as: 'time', read: ({ message }) => message.createdAt },
  { title: 'project', read: ({ project }) => project?.name ?? null },
  {
    title: 'chat',
    read: ({ chat: { title }, matchCount = 1, matchCountIsExact = true }) =>
      matchCount > 1 ? `${title} (${atLeast(matchCountIsExact, String(matchCount))})` : title,
  },
  { title: 'text', read: ({ snippet }) => snippetText(snippet, (hit) => hit) },
  { title: 'chat id', read: ({ chat }) => chat.id },
  { title: 'message id', read: ({ message }) => message.id },
  { title: 'machine', read: ({ chat }) => machineText(chat.machine), isNeededFor: ({ chat }) => chat.machine !== null },
]

/** In a pipe only exact results are printed, because a program cannot tell these apart. `--json` has both. */
async function showRelated({ items, related }: SearchAnswer, session: Session): Promise<void> {
  const { screen } = session
  if (related.length === 0) return
  if (screen.width !== null) {
    const cards = renderCards(related, screen)
    return session.print(`${items.length > 0 ? '\n' : ''}Closest chats, some words missing:\n\n${cards}`)
  }
  if (items.length > 0) return
  await session.note(`Closest chats, some words missing: ${numberText(related.length)}. --json lists them.\n`)
}

async function noteFound(found: SearchAnswer, filters: Options, answers: Answers, session: Session): Promise<void> {
  const warnings = found.warnings.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  // A warning already reports the corrected query.
  const others = found.suggestions.filter(({ text }) => text !== found.correctedQuery)
  const suggestions = others.map(suggestionText)
  const nothing =
    found.items.length > 0 ? [] : [found.total > 0 ? emptyText(found, '') : await searchedText(answers, session)]
  if (nothing.length + found.related.length + suggestions.length === 1 && found.total === 0) nothing.push(ADVICE)
  for (const line of [...nothing, ...warnings, ...suggestions]) {
    await session.note(`${wrap(printableLine(line), 0, session.screen)}\n`)
  }
  await notePage(session, found, filters)
}

const ADVICE =
  'Try fewer words, other words, or the beginning of a word such as conf*. Words of one search must be in one message.'

/** How many chats were searched, and how old the latest is. */
async function searchedText(answers: Answers, { screen }: Session): Promise<string> {
  const { items, total } = decodeAnswer(chatsAnswer, await answers.get('/api/chats', queryOf({ limit: 1 })))
  const latest = items[0]?.lastActivityAt ?? null
  return `Nothing found in ${countText(total, 'chat')}${latest === null ? '' : `, the latest active ${timeText(latest, screen)}`}.`
}

/** The server counts the results of a suggestion only so far. */
const COUNTED_MAX = 1000

/** Names filters as flags, and words as they are typed. */
function suggestionText({ text, reason, count, query, filters }: SearchAnswer['suggestions'][number]): string {
  const found = atLeast(count < COUNTED_MAX, countText(count, 'result'))
  if (reason === 'spelling') return `Did you mean ${text}? (${found})`
  if (reason !== 'without-filter') return `Try: ${text} (${found})`
  // The text starts with the names of the filters.
  const names = query === undefined ? text.split(' ') : (filters ?? [])
  const typed = text.slice(names.join(' ').length).trimStart()
  const things = [...names.map((name) => `--${name}`), ...(typed === '' ? [] : [typed])]
  return `Without ${things.join(' ')}: ${found}`
}
