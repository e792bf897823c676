import { countText, localTime, numberText } from '../../terminal/formats.ts'
import { printableLine } from '../../../text/printable.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderRows, type RowColumn } from '../../terminal/table.ts'
import { displayWidth, wrap } from '../../terminal/text.ts'
import type { ImportAnswer, TokensAnswer, TokenSources } from '../../../api/answers/tokens.ts'

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

/** How numbers are written: in full, or short, such as `12.3k`. */
type Write = (value: number) => string

const pair = (row: { readonly input: number | null; readonly output: number | null } | null, write: Write): string =>
  row === null ? '-' : [row.input, row.output].map((value) => (value === null ? '-' : write(value))).join(' / ')

/** Usage files of 2025 have only a total. */
function importedText(imported: TokenSources['imported'], write: Write): string {
  const hasParts = imported === null || imported.input !== null || imported.output !== null
  return hasParts || imported.total === null ? pair(imported, write) : `${write(imported.total)} total`
}

const shortFormat = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** `850`, `9.1k`, `138k`, `1.2M`. */
const shortNumber = (count: number): string => shortFormat.format(count).replace('K', 'k')

/** A terminal narrower than this shows short numbers. */
const WIDE = 120

/** The sources, each shown on a terminal if any of its values is known. A pipe gets all, because it has no heads. */
function sourcesFor(screen: Screen, totals: TokenSources): readonly RowColumn<TokenSources>[] {
  const write: Write = screen.width === null || screen.width >= WIDE ? numberText : shortNumber
  const { imported, recordedCents, contextSnapshot } = totals
  const isAll = screen.width === null
  const columns: readonly (RowColumn<TokenSources> | false)[] = [
    {
      title: 'known',
      read: ({ coverage: { messages, unknown } }) => `${numberText(messages - unknown)} of ${numberText(messages)}`,
    },
    { title: 'recorded in/out', read: ({ recorded }) => pair(recorded, write) },
    (isAll || recordedCents !== null) && { title: 'cost', read: (row) => dollars(row.recordedCents) },
    (isAll || totals.priced !== null) && { title: 'list price', read: ({ priced }) => pricedText(priced) },
    (isAll || imported !== null) && {
      title: 'imported in/out',
      read: (row) => importedText(row.imported, write),
    },
    (isAll || imported !== null) && { title: 'imp. cost', read: (row) => dollars(row.imported?.cents) },
    { title: 'estimated in/out', read: ({ estimated }) => pair(estimated, write) },
    (isAll || contextSnapshot !== null) && {
      title: 'context',
      read: (row) => (row.contextSnapshot === null ? null : write(row.contextSnapshot.tokens)),
    },
  ]
  return columns.filter((column) => column !== false).map((column) => ({ ...column, align: 'right' }))
}

/** Labels of weeks are not cut, because they all begin alike. */
const LABEL_WIDTH_MAX = 'week of 2026-01-05'.length

/** What a narrow terminal leaves out, the least important first. */
const LEFT_OUT = ['context', 'known', 'imp. cost', 'imported in/out', 'cost', 'list price', 'estimated in/out']

/** Programs get all columns in a fixed order, because the output has no head. A terminal gets those that fit it. */
export function renderTokens({ rows, totals }: TokensAnswer, screen: Screen): string {
  const lines: readonly Labelled[] = [...rows, { ...totals, label: 'all' }]
  const widthMin = Math.min(LABEL_WIDTH_MAX, Math.max(...lines.map(({ label }) => displayWidth(label))))
  const labels: RowColumn<Labelled> = { title: '', widthMin, read: ({ label }) => label }
  const sources = sourcesFor(screen, totals)
  for (let left = 0; ; left += 1) {
    const gone = sources.filter(({ title }) => LEFT_OUT.slice(0, left).includes(title))
    const table = renderRows([labels, ...sources.filter((source) => !gone.includes(source))], lines, screen)
    const isWithin = table.split('\n').every((line) => displayWidth(line) <= (screen.width ?? Infinity))
    if (!isWithin && left < LEFT_OUT.length) continue
    if (gone.length === 0) return table
    const titles = gone.map(({ title }) => title).join(', ')
    return `${table}${screen.colours.dim(wrap(`Too wide to show: ${titles}.`, 0, screen))}\n`
  }
}

type Labelled = TokenSources & { readonly label: string }

/** Sentences that explain the numbers. */
export function explainTokens({ totals, imports, prices, notes }: TokensAnswer, screen: Screen): string {
  const { messages, recorded, estimated, unknown } = totals.coverage
  const sentences = [
    `${countText(messages, 'message')}: ${numberText(recorded)} recorded, ${numberText(estimated)} estimated, ${numberText(unknown)} unknown.`,
    imports === null
      ? null
      : `${countText(imports.events, 'imported row')}: ${numberText(imports.matched)} matched to a chat, ${numberText(imports.unmatched)} not matched.`,
    ...notes,
    prices === null ? null : `Prices: ${prices.source}, as of ${prices.asOf}.`,
  ].filter((sentence) => sentence !== null)
  return sentences.map((sentence) => `${wrap(printableLine(sentence), 0, screen)}\n`).join('')
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
