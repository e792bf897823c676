import { stripVTControlCharacters } from 'node:util'
import { displayWidth, wrap } from '../../terminal/display-width.ts'
import { countText, localTime, numberText, shortNumber } from '../../terminal/formats.ts'
import { printableLine } from '../../../text/printable.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderTable, type Column } from '../../terminal/table.ts'
import type { ImportAnswer, TokensAnswer, TokenSources } from '../../../api/http/schemas/tokens.ts'

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

const right = (title: string): Column => ({ title, align: 'right' })

/** A column of the table. A terminal shows it only if any of its values is known. */
interface Source {
  readonly title: string
  /** A title for narrow terminals. */
  readonly short: string
  readonly isKnown: (totals: TokenSources) => boolean
  readonly read: (row: TokenSources, write: Write) => string
}

const always = () => true
const sourceOf = (title: string, short: string, read: Source['read'], isKnown: Source['isKnown'] = always): Source => ({
  title,
  short,
  read,
  isKnown,
})

const known: Source['read'] = ({ coverage: { messages, unknown } }) =>
  `${numberText(messages - unknown)} of ${numberText(messages)}`
const context: Source['read'] = ({ contextSnapshot }, write) =>
  contextSnapshot === null ? '-' : write(contextSnapshot.tokens)
const isImported: Source['isKnown'] = ({ imported }) => imported !== null

const shownSources: readonly Source[] = [
  sourceOf('messages known', 'known', known),
  sourceOf('recorded in / out', 'recorded', ({ recorded }, write) => pair(recorded, write)),
  sourceOf(
    'recorded cost',
    'cost',
    (row) => dollars(row.recordedCents),
    (row) => row.recordedCents !== null,
  ),
  sourceOf(
    'list price',
    'priced',
    ({ priced }) => pricedText(priced),
    ({ priced }) => priced !== null,
  ),
  sourceOf('imported in / out', 'imported', ({ imported }, write) => importedText(imported, write), isImported),
  sourceOf('imported cost', 'imp. cost', ({ imported }) => dollars(imported?.cents), isImported),
  sourceOf('estimated in / out', 'estimated', ({ estimated }, write) => pair(estimated, write)),
  sourceOf('context', 'context', context, (row) => row.contextSnapshot !== null),
]

/** What a narrow terminal leaves out, the least important first. */
const LEFT_OUT = ['context', 'list price', 'messages known', 'imported cost', 'recorded cost', 'estimated in / out']

/** Programs get all columns in a fixed order, because the output has no head. A terminal gets one table that fits it. */
export function renderTokens({ rows, totals }: TokensAnswer, screen: Screen, isCompact = false): string {
  const { width } = screen
  const all = shownSources.filter(({ isKnown }) => width === null || isKnown(totals))
  if (width === null) return tableOf(rows, totals, all, false, screen)
  if (!isCompact) {
    const table = tableOf(rows, totals, all, false, screen)
    if (widest(table.split('\n')) <= width) return table
  }
  for (let left = 0; ; left += 1) {
    const shown = all.filter(({ title }) => !LEFT_OUT.slice(0, left).includes(title))
    const table = tableOf(rows, totals, shown, true, screen)
    if (left === LEFT_OUT.length || widest(table.split('\n')) <= width) {
      const missing = all.filter((source) => !shown.includes(source)).map(({ title }) => title)
      if (missing.length === 0) return table
      return table + screen.colours.dim(`${wrap(`Too wide to show: ${missing.join(', ')}.`, 0, screen)}\n`)
    }
  }
}

function tableOf(
  rows: TokensAnswer['rows'],
  totals: TokenSources,
  sources: readonly Source[],
  isShort: boolean,
  screen: Screen,
): string {
  const write = isShort ? shortNumber : numberText
  const line = (label: string, row: TokenSources): string[] => [label, ...sources.map(({ read }) => read(row, write))]
  const lines = [...rows.map((row) => line(row.label, row)), line('all', totals)]
  const widthMin = Math.min(LABEL_WIDTH_MAX, widest(lines.map(([label = '']) => label)))
  const columns = sources.map(({ title, short }) => right(isShort ? short : title))
  return renderTable([{ title: '', widthMin }, ...columns], lines, screen)
}

const widest = (lines: readonly string[]): number =>
  lines.reduce((most, line) => Math.max(most, displayWidth(stripVTControlCharacters(line))), 0)

/** Labels of weeks are not cut, because they all begin alike. */
const LABEL_WIDTH_MAX = 'week of 2026-01-05'.length

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
