import { displayWidth } from '../../terminal/display-width.ts'
import { countText, localTime, numberText } from '../../terminal/formats.ts'
import { printableLine } from '../../../text/printable.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderTable, type Column } from '../../terminal/table.ts'
import type { ImportAnswer, TokensAnswer, TokenSources } from '../../../api/http/schemas/tokens.ts'

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : numberText(value)

/** With two decimals it would be shown as $0.00. */
const isBelowCent = (cents: number): boolean => cents > 0 && cents < 0.5

function dollars(cents: number | null | undefined): string {
  if (cents === null || cents === undefined) return '-'
  return isBelowCent(cents) ? '<$0.01' : `$${(cents / 100).toFixed(2)}`
}

/** If some messages have no price, the sum is only a lower bound. */
function pricedText(priced: TokenSources['priced']): string {
  if (priced === null) return '-'
  if (priced.cents === null || priced.messages === 0) return 'unpriced'
  if (priced.unpriced === 0) return dollars(priced.cents)
  return isBelowCent(priced.cents) ? 'more than $0.00' : `at least ${dollars(priced.cents)}`
}

const pair = (row: { readonly input: number | null; readonly output: number | null } | null): string =>
  row === null ? '-' : `${number(row.input)} / ${number(row.output)}`

/** Usage files of 2025 have only a total. */
const importedText = (imported: TokenSources['imported']): string => {
  const hasParts = imported === null || imported.input !== null || imported.output !== null
  return hasParts || imported.total === null ? pair(imported) : `${numberText(imported.total)} total`
}

const right = (title: string): Column => ({ title, align: 'right' })

/** A column of the table. A terminal shows it only if any of its values is known. */
interface Source {
  readonly column: Column
  readonly isKnown: (totals: TokenSources) => boolean
  readonly read: (row: TokenSources) => string
}

const shownSources: readonly Source[] = [
  {
    column: right('recorded in / out'),
    isKnown: () => true,
    read: ({ recorded }) => pair(recorded),
  },
  {
    column: right('recorded cost'),
    isKnown: (row) => row.recordedCents !== null,
    read: (row) => dollars(row.recordedCents),
  },
  {
    column: right('list price'),
    isKnown: ({ priced }) => priced !== null,
    read: ({ priced }) => pricedText(priced),
  },
  {
    column: right('imported in / out'),
    isKnown: ({ imported }) => imported !== null,
    read: ({ imported }) => importedText(imported),
  },
  {
    column: right('imported cost'),
    isKnown: ({ imported }) => imported !== null,
    read: ({ imported }) => dollars(imported?.cents),
  },
  { column: right('estimated in / out'), isKnown: () => true, read: ({ estimated }) => pair(estimated) },
  {
    column: right('context'),
    isKnown: (row) => row.contextSnapshot !== null,
    read: (row) => number(row.contextSnapshot?.tokens),
  },
]

/** For how many messages any number is known: `known of all`. */
const coverageText = ({ coverage: { messages, unknown } }: TokenSources): string =>
  `${numberText(messages - unknown)} of ${numberText(messages)}`

/** Programs get all columns in a fixed order, because the output has no head. */
export function renderTokens({ rows, totals }: TokensAnswer, screen: Screen): string {
  const shown = shownSources.filter(({ isKnown }) => screen.width === null || isKnown(totals))
  const columns = [right('messages known'), ...shown.map(({ column }) => column)]
  const line = (row: TokenSources): string[] => [coverageText(row), ...shown.map(({ read }) => read(row))]
  const labels = [...rows.map(({ label }) => label), 'all']
  const lines = [...rows.map(line), line(totals)]
  const widthMin = Math.min(
    LABEL_WIDTH_MAX,
    labels.reduce((most, label) => Math.max(most, displayWidth(label)), 0),
  )
  const tables = groupsThatFit(columns, lines, (screen.width ?? Infinity) - widthMin).map((group) =>
    renderTable(
      [{ title: '', widthMin }, ...group.map((at) => columns[at] ?? right(''))],
      lines.map((cells, row) => [labels[row] ?? '', ...group.map((at) => cells[at] ?? '')]),
      screen,
    ),
  )
  return tables.join('\n')
}

/** Labels of weeks are not cut, because they all begin alike. */
const LABEL_WIDTH_MAX = 'week of 2026-01-05'.length
const GAP_WIDTH = 2

/** Splits columns that are too wide for the terminal into several tables, one below the other. */
function groupsThatFit(
  columns: readonly Column[],
  lines: readonly (readonly string[])[],
  widthMax: number,
): number[][] {
  const groups: number[][] = [[]]
  let room = widthMax
  for (const [at, { title }] of columns.entries()) {
    const widths = [title, ...lines.map((cells) => cells[at] ?? '')].map(displayWidth)
    const needed = GAP_WIDTH + widths.reduce((most, width) => Math.max(most, width), 0)
    const group = groups.at(-1)
    if (group === undefined || (group.length > 0 && needed > room)) {
      groups.push([at])
      room = widthMax - needed
    } else {
      group.push(at)
      room -= needed
    }
  }
  return groups
}

/** Sentences that explain the numbers. */
export function explainTokens({ totals, imports, prices, notes }: TokensAnswer): string {
  const { messages, recorded, estimated, unknown } = totals.coverage
  const sentences = [
    `${countText(messages, 'message')}: ${numberText(recorded)} recorded, ${numberText(estimated)} estimated, ${numberText(unknown)} unknown.`,
    imports === null
      ? null
      : `${countText(imports.events, 'imported row')}: ${numberText(imports.matched)} matched to a chat, ${numberText(imports.unmatched)} not matched.`,
    ...notes,
    prices === null ? null : `Prices: ${prices.source}, as of ${prices.asOf}.`,
  ].filter((sentence) => sentence !== null)
  return sentences.map((sentence) => `${printableLine(sentence)}\n`).join('')
}

const reasons: Readonly<Record<string, string>> = {
  'no-answer-near': 'no answer within five minutes',
  'other-model': 'only answers of other models',
  'several-chats': 'answers in several chats',
  'several-users': 'rows of several users match, and it is unknown which of them you are',
}

export function renderImport(answer: ImportAnswer, screen: Screen): string {
  const { rows, matched, unmatched, already, rematched, unknownColumns, firstUnmatched } = answer
  const counts = `${countText(rows, 'row')}: ${numberText(matched)} matched to a chat, ${numberText(unmatched)} not matched, ${numberText(already)} already imported`
  const lines = [
    counts,
    rematched > 0 ? `${countText(rematched, 'earlier row')} matched to a chat now` : null,
    unknownColumns.length > 0 ? `unknown columns: ${unknownColumns.join(', ')}` : null,
    ...firstUnmatched.map(
      ({ line, at, model, reason }) =>
        `line ${line}: ${localTime(at, screen.timeZone)} ${model ?? '-'}: ${reasons[reason] ?? reason}`,
    ),
    unmatched > firstUnmatched.length ? `and ${numberText(unmatched - firstUnmatched.length)} more` : null,
  ]
  return lines
    .filter((line) => line !== null)
    .map((line) => `${printableLine(line)}\n`)
    .join('')
}
