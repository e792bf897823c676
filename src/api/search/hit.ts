import { Masking } from '../export/redact/masking.ts'
import type { SearchRequest } from './request.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { columnNames, searchablePieces, searchableText, type ColumnName } from '../../text/terms/columns.ts'
import type { TermMatch, TermMatcher } from '../../text/passages/matcher.ts'
import { makeSnippet } from '../../text/passages/snippet.ts'
import { statementOf } from './statement.ts'
import { answerRow, MACHINE_REF, PROJECT_REF, type Row } from '../queries/answer-row.ts'
import type { SearchHit } from '../answers/search.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'

/** One hit: a message, with the chat's title if the title is what matched. */
export interface Found {
  readonly key: number
  readonly score: number
  readonly titled: { readonly title: string; readonly summary: string | null } | null
  /** The parts of the message, if they were read before. */
  readonly parts?: readonly Part[] | undefined
}

type HitRow = Row & { readonly chatId: ChatId; readonly title: string; readonly parts: string | null }

const SELECT_HIT = `
  select m.id, c.id as chatId, m.position, m.role, m.created_at as createdAt, m.model, m.is_orphan <> 0 as isOrphan,
    c.title, ${PROJECT_REF}, ${MACHINE_REF}, b.parts
  from messages m
  join chats c on c.num = m.chat
  left join bodies b on b.num = m.body
  left join projects p on p.num = c.project
  left join machines h on h.id = c.machine
  where m.key = @key
`

type Shape = Pick<SearchRequest, 'isRedacted'>

/** Makes the hits of one page. Texts of messages are read only here. */
export function makeHits(
  db: Mirror,
  found: readonly Found[],
  matcher: TermMatcher,
  { isRedacted = false }: Shape,
): readonly SearchHit[] {
  // A message is masked whole, by its keys too. Half of a key in a passage would not be known as one.
  const toShow = <Value>(value: Value): Value => (isRedacted ? new Masking().mask(value) : value)
  const statement = statementOf<HitRow>(db, SELECT_HIT)
  return found.flatMap((each) => {
    const row = statement.get({ key: BigInt(each.key) })
    return row === undefined ? [] : [makeHit(row, each, matcher, toShow)]
  })
}

type ToShow = <Value>(value: Value) => Value

function makeHit(row: HitRow, found: Found, matcher: TermMatcher, toShow: ToShow): SearchHit {
  const { title, project, machine, parts, ...message } = row
  const { machine: ofMachine, project: ofProject } = answerRow<
    Pick<SearchHit, 'project'> & Pick<SearchHit['chat'], 'machine'>
  >({ project: project ?? null, machine: machine ?? null }, ['project', 'machine'])
  const shown =
    found.titled === null
      ? showPart(toShow(found.parts ?? (parts === null ? [] : parseParts(parts))), matcher)
      : showTitle(toShow(found.titled), matcher)
  return {
    message: answerRow(message),
    ...shown,
    chat: { id: row.chatId, title: toShow(title), machine: ofMachine },
    project: ofProject === null ? null : { ...ofProject, name: toShow(ofProject.name) },
    // Significant digits, not decimals: a word that is in most messages has a weight of about a millionth.
    score: Number(found.score.toPrecision(6)),
  }
}

type Shown = Pick<SearchHit, 'part' | 'toolName' | 'snippet'>

function showTitle(titled: { readonly title: string; readonly summary: string | null }, matcher: TermMatcher): Shown {
  const texts = [titled.title, titled.summary ?? ''].map((text) => ({ text, found: matcher.find(text) }))
  const [best] = texts.toSorted((a, b) => wordsOf(b.found).size - wordsOf(a.found).size)
  return { part: 'title', toolName: null, snippet: makeSnippet(best?.text ?? '', best?.found ?? []) }
}

/** The piece with most of the words, in the column with most of them; of equally good ones the first. */
function showPart(parts: readonly Part[], matcher: TermMatcher): Shown {
  const pieces = parts.flatMap((part) =>
    searchablePieces(part).map(({ text, column }) => {
      const matches = matcher.find(text, column)
      return { part, text, column, matches, words: wordsOf(matches) }
    }),
  )
  const wordsIn = (column: ColumnName): number =>
    new Set(pieces.flatMap((each) => (each.column === column ? [...each.words] : []))).size
  const [column] = columnNames
    .filter((name) => pieces.some((each) => each.column === name))
    .toSorted((a, b) => wordsIn(b) - wordsIn(a))
  const [best] = pieces.filter((each) => each.column === column).toSorted((a, b) => b.words.size - a.words.size)
  if (best === undefined) return { part: 'text', toolName: null, snippet: '' }
  const toolName = best.part.kind === 'tool' ? best.part.name : null
  // Words may be in the prose of a text and in its code: both are shown.
  if (best.part.kind !== 'text') return { part: best.column, toolName, snippet: makeSnippet(best.text, best.matches) }
  const { text } = searchableText(best.part)
  return { part: best.column, toolName, snippet: makeSnippet(text, matcher.find(text)) }
}

const wordsOf = (matches: readonly TermMatch[]): ReadonlySet<number> => new Set(matches.map(({ word }) => word))
