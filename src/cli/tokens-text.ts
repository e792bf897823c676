import { z } from 'zod'
import { countText, localTime, numberText } from './formats.ts'
import { printableLine } from './printable.ts'
import type { Screen } from './screen.ts'
import { renderTable } from './table.ts'
import type { Column } from './table.ts'

const count = z.number().nullable()
const sources = z.object({
  recorded: z.object({ input: count, output: count, messages: z.number() }).nullable(),
  imported: z
    .object({ input: count, output: count, cacheRead: count, cacheWrite: count, cents: count, events: z.number() })
    .nullable(),
  estimated: z.object({ input: z.number(), output: z.number(), messages: z.number() }).nullable(),
  contextSnapshot: z.object({ tokens: z.number(), chats: z.number() }).nullable(),
  recordedCents: count,
  priced: z.object({ cents: count, messages: z.number(), unpriced: z.number() }).nullable(),
  coverage: z.object({ messages: z.number(), recorded: z.number(), estimated: z.number(), unknown: z.number() }),
})
type Sources = z.infer<typeof sources>

export const tokensAnswer = z.object({
  rows: z.array(sources.extend({ key: z.string().nullable(), label: z.string() })),
  totals: sources,
  imports: z.object({ events: z.number(), matched: z.number(), unmatched: z.number() }).nullable(),
  prices: z.object({ source: z.string(), asOf: z.string() }).nullable(),
  notes: z.array(z.string()),
})
type TokensAnswer = z.infer<typeof tokensAnswer>

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : numberText(value)
const dollars = (cents: number | null | undefined): string =>
  cents === null || cents === undefined ? '-' : `$${(cents / 100).toFixed(2)}`
const pair = (row: { readonly input: number | null; readonly output: number | null } | null): string =>
  row === null ? '-' : `${number(row.input)} / ${number(row.output)}`

const right = (title: string): Column => ({ title, align: 'right' })

/** A column for each source, and those only of which anything is known. */
interface Source {
  readonly column: Column
  readonly isKnown: (totals: Sources) => boolean
  readonly read: (row: Sources) => string
}

const shownSources: readonly Source[] = [
  {
    column: right('recorded in / out'),
    isKnown: () => true,
    read: ({ recorded }) => pair(recorded),
  },
  {
    column: right('cents told'),
    isKnown: (row) => row.recordedCents !== null,
    read: (row) => dollars(row.recordedCents),
  },
  {
    column: right('list price'),
    isKnown: ({ priced }) => priced !== null,
    read: ({ priced }) => (priced === null ? '-' : priced.messages === 0 ? 'unpriced' : dollars(priced.cents)),
  },
  {
    column: right('imported in / out'),
    isKnown: ({ imported }) => imported !== null,
    read: ({ imported }) => pair(imported),
  },
  {
    column: right('charged'),
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

/** How many messages any number stands for: `known of all`. */
const coverageText = ({ coverage: { messages, unknown } }: Sources): string =>
  `${numberText(messages - unknown)} of ${numberText(messages)}`

/** For programs, to whom no head is shown, all columns in their order. */
export function renderTokens({ rows, totals }: TokensAnswer, screen: Screen): string {
  const shown = shownSources.filter(({ isKnown }) => screen.width === null || isKnown(totals))
  const columns = [{ title: '', widthMin: 10 }, right('messages known'), ...shown.map(({ column }) => column)]
  const line = (label: string, row: Sources): string[] => [
    label,
    coverageText(row),
    ...shown.map(({ read }) => read(row)),
  ]
  return renderTable(columns, [...rows.map((row) => line(row.label, row)), line('all', totals)], screen)
}

/** What the numbers are and are not. */
export function explainTokens({ totals, imports, prices, notes }: TokensAnswer): string {
  const { messages, recorded, estimated, unknown } = totals.coverage
  const said = [
    `Of ${countText(messages, 'message')} ${numberText(recorded)} recorded, ${numberText(estimated)} estimated, ${numberText(unknown)} unknown.`,
    imports === null
      ? null
      : `Of ${countText(imports.events, 'imported row')} ${numberText(imports.matched)} found their chat, ${numberText(imports.unmatched)} did not.`,
    ...notes,
    prices === null ? null : `Prices: ${prices.source}, of ${prices.asOf}.`,
  ].filter((sentence) => sentence !== null)
  return said.map((sentence) => `${printableLine(sentence)}\n`).join('')
}

export const importAnswer = z.object({
  rows: z.number(),
  matched: z.number(),
  unmatched: z.number(),
  already: z.number(),
  rematched: z.number(),
  unknownColumns: z.array(z.string()),
  firstUnmatched: z.array(
    z.object({ line: z.number(), atMs: z.number(), model: z.string().nullable(), reason: z.string() }),
  ),
})

const reasons: Readonly<Record<string, string>> = {
  'no-answer-near': 'no answer within five minutes',
  'other-model': 'only answers of other models',
  'several-chats': 'answers in several chats',
}

export function renderImport(answer: z.infer<typeof importAnswer>, screen: Screen): string {
  const { rows, matched, unmatched, already, rematched, unknownColumns, firstUnmatched } = answer
  const counts = `${countText(rows, 'row')}: ${numberText(matched)} found their chat, ${numberText(unmatched)} did not, ${numberText(already)} were there already`
  const lines = [
    counts,
    rematched > 0 ? `${countText(rematched, 'earlier row')} found their chat now` : null,
    unknownColumns.length > 0 ? `columns that mean nothing here: ${unknownColumns.join(', ')}` : null,
    ...firstUnmatched.map(
      ({ line, atMs, model, reason }) =>
        `line ${line}: ${localTime(new Date(atMs).toISOString(), screen.timeZone)} ${model ?? '-'}: ${reasons[reason] ?? reason}`,
    ),
    unmatched > firstUnmatched.length ? `and ${numberText(unmatched - firstUnmatched.length)} more` : null,
  ]
  return lines
    .filter((line) => line !== null)
    .map((line) => `${printableLine(line)}\n`)
    .join('')
}
