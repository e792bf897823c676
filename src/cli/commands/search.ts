import { fieldFilters } from '../../shared/filters.ts'
import { type Command, Option } from 'commander'
import { countText, machineText, numberText, shortIds, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { cutTo, displayWidth, wrapLine } from '../terminal/text.ts'
import { completeChatId } from '../input/chat-id.ts'
import { addFilters, addPage, hasDateField, hasDates, inOwnZone, refuseWord, type Options } from '../input/options.ts'
import { atLeast, emptyText, notePage } from './lists.ts'
import { snippetText } from '../../shared/snippet.ts'
import { printableLine } from '../../text/printable.ts'
import type { ApiRoutes } from '../../api/http/routes.ts'
import type { Session } from '../session.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import type { RelatedChat, SearchAnswer, SearchHit } from '../../api/answers/search.ts'

const languageHelp = `Search language:
  one two              both words, in any order
  "one two"            the words side by side
  one -two             one without two; quote a literal flag: "-k"
  conf*  *fig*         words that start with conf, words that contain fig
  one OR two           one of them; use parentheses to group: (one OR two) three
  project:shop role:user in:code tool:edit model:gpt mode:agent path:src chat:ID
  machine:laptop machine:ada/laptop machine:local
  before:2026-02 after:7d on:yesterday on:"last week" on:2026
  is:archived is:deleted is:subagent is:orphan has:code has:error has:thinking
  A repeated field matches any of its values. A - before a field excludes it.
`

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('search')
    .description('find messages')
    .argument('[words...]', 'what to search for (see "Search language")')
    // In the search language a dash excludes a word.
    .allowUnknownOption()
  const orders = ['relevance', 'newest', 'oldest']
  addFilters(command, ...fieldFilters, 'period')
    .addOption(new Option('--sort <order>', 'order of the results; by default relevance').choices(orders))
    .addOption(new Option('--group <by>', 'show only the best result of each chat').choices(['chat']))
    .option('--literal', 'do not correct misspelt words')
  addPage(command).addHelpText('after', `\n${languageHelp}`)
  command.hook('preAction', () => refuseUnknownOptions(command, session.argv))
  const simple = 'cursordex search connection pool --project shop --from 2026-01-01'
  const precise = "cursordex search '(tool:edit OR tool:write) -test after:7d' --sort newest"
  session.asks(command, [simple, precise], async (answers, _: readonly string[], { json, ...given }: Options) => {
    const q = queryText(command.args)
    const chat = await Promise.all((given.chat ?? []).map((word) => completeChatId(answers, word)))
    const dated = inOwnZone(given, session.screen, hasDates(given) || hasDateField(q))
    // The route asks for a word or a filter. These roles have all messages, the newest first.
    const all = q.trim() === '' ? { role: ['user', 'assistant'] } : {}
    const found = await answers.get('/api/search', { query: { q, ...all, ...dated, chat } as SearchQuery })
    if (found.total === 0) session.exitCode = 1
    if (json === true) return session.printJson(found)
    const { screen } = session
    const isOnTerminal = screen.width !== null
    await session.show(isOnTerminal ? renderCards(found.items, screen) : renderRows(columns, found.items, screen))
    await noteFound(found, given, session)
    await showRelated(found, session)
  })
}

/** Its choices are refused by the route. */
type SearchQuery = ApiRoutes['GET /api/search']['query']

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
  { title: 'text', read: ({ snippet }) => snippetText(snippet, '') },
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

async function noteFound(found: SearchAnswer, given: Options, session: Session): Promise<void> {
  // A warning already reports the corrected query.
  const others = found.suggestions.filter(({ text }) => text !== found.correctedQuery)
  const suggestions = others.map(suggestionText)
  const nothing = found.items.length > 0 ? [] : [emptyText(found, 'Nothing found.')]
  if (nothing.length + found.related.length + suggestions.length === 1 && found.total === 0) nothing.push(ADVICE)
  for (const line of [...nothing, ...found.warnings, ...suggestions]) {
    await session.note(`${printableLine(line)}\n`)
  }
  await notePage(session, found, given)
}

const ADVICE =
  'Try fewer words, other words, or the beginning of a word such as conf*. Words of one search must be in one message.'

/** The server counts the results of a suggestion only so far. */
const COUNTED_MAX = 1000

/** Names filters as flags, and words as they are typed. */
function suggestionText({ text, reason, count, query }: SearchAnswer['suggestions'][number]): string {
  const found = atLeast(count < COUNTED_MAX, countText(count, 'result'))
  if (reason === 'spelling') return `Did you mean ${text}? (${found})`
  if (reason !== 'without-filter') return `Try: ${text} (${found})`
  return `Without ${query === undefined ? `--${text}` : text}: ${found}`
}

const PASSAGES_MAX = 3
/** Columns before a passage: an indent, the longest role and a gap. */
const LABEL_WIDTH = 'assistant'.length
const INDENT = 2 + LABEL_WIDTH + 2
const TITLE_MIN = 20
const PROJECT_MAX = 24

type Hit = SearchHit & Partial<Pick<RelatedChat, 'missing'>>

/**
 * The hits of each chat as a card: a line about the chat, then its best passages. The chats keep the order of their
 * first hits.
 */
function renderCards(hits: readonly Hit[], screen: Screen): string {
  const width = screen.width ?? Infinity
  const short = shortIds(hits.map(({ chat }) => chat.id))
  const messageId = shortIds(hits.map(({ message }) => message.id))
  const byChat = new Map<string, Hit[]>()
  for (const hit of hits) byChat.set(hit.chat.id, [...(byChat.get(hit.chat.id) ?? []), hit])
  const cards = [...byChat].map(([id, ofChat]) => {
    const best = ofChat.slice(0, PASSAGES_MAX)
    const passages = best.flatMap((hit) => renderPassage(hit, messageId(hit.message.id), width, screen))
    const more = ofChat.length - best.length
    const rest = more > 0 ? [screen.colours.dim(`${' '.repeat(INDENT)}and ${countText(more, 'more message')}`)] : []
    return [headOf(short(id), ofChat, width, screen), ...passages, ...rest].map((line) => `${line}\n`).join('')
  })
  return cards.join('\n')
}

/** Id, title, project, machine if it is another, and age on one line. A long title is cut, then a long project. */
function headOf(id: string, [hit]: readonly Hit[], width: number, screen: Screen): string {
  if (hit === undefined) return ''
  const { bold, cyan, dim } = screen.colours
  const shownId = printableLine(id)
  const counted = atLeast(hit.matchCountIsExact !== false, countText(hit.matchCount ?? 1, 'match', 'matches'))
  const matches = (hit.matchCount ?? 1) > 1 ? [counted] : []
  const project = hit.project === null ? [] : [cutTo(printableLine(hit.project.name), PROJECT_MAX)]
  const machine = hit.chat.machine === null ? [] : [cutTo(printableLine(machineText(hit.chat.machine)), PROJECT_MAX)]
  const facts = [...project, ...machine, timeText(hit.message.createdAt, screen), ...matches]
  const room = width - displayWidth(shownId) - 2
  const tail = cutTo(` · ${facts.join(' · ')}`, Math.max(0, room - TITLE_MIN))
  const title = cutTo(printableLine(hit.chat.title), room - displayWidth(tail))
  return `${cyan(shownId)}  ${bold(title)}${dim(tail)}`
}

/** The role, the passage, and the short id of the message for `show --around`. */
function renderPassage(hit: Hit, shortId: string, width: number, screen: Screen): string[] {
  const { message, part, toolName, snippet, missing } = hit
  const { bold, dim, yellow } = screen.colours
  const kind = part === 'text' ? '' : `${part === 'tool' && toolName !== null ? printableLine(toolName) : part}: `
  const passage = paintedSnippet(snippet, (text) => bold(yellow(text)))
  const lines = wrapLine(`${kind && dim(kind)}${passage} ${dim(`@${printableLine(shortId)}`)}`, width - INDENT)
  const lacks = (missing ?? []).length === 0 ? [] : [dim(cutTo(`without ${missing?.join(' ') ?? ''}`, width - INDENT))]
  return [...lines, ...lacks].map((line, index) => {
    return index === 0 ? `  ${dim(message.role.padEnd(LABEL_WIDTH))}  ${line}` : `${' '.repeat(INDENT)}${line}`
  })
}

/** No printable text has it. */
const MARK = '\u0000'

/** A snippet as one printable line, in which what was found is painted. */
export const paintedSnippet = (snippet: string, paint: (hit: string) => string): string =>
  snippetText(printableLine(snippet), MARK)
    .split(MARK)
    .map((piece, index) => (index % 2 === 1 && piece !== '' ? paint(piece) : piece))
    .join('')
