import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ApiRoutes } from '../../api/http/routes.ts'
import { CsvText } from '../../shared/client.ts'
import { printableLine } from '../../text/printable.ts'
import { addExamples, addFilters, hasDates, inOwnZone, refuseExcess, wholeNumber } from '../input/options.ts'
import type { Options } from '../input/options.ts'
import { readText } from '../input/files.ts'
import type { Session } from '../session.ts'
import { countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import type { ImportAnswer, TokensAnswer, TokenSources } from '../../api/answers/tokens.ts'
import { noteUnknown, undatedText } from './lists.ts'
import { SPANS } from './stats.ts'

type Query = NonNullable<ApiRoutes['GET /api/tokens']['query']>
type Grouping = NonNullable<Query['groupBy']>[number]
const groupings: readonly Grouping[] = ['day', 'week', 'month', 'project', 'model', 'chat']

/** Reads `model,project`. */
function readGroupings(given: string): Grouping[] {
  const names = given.split(',')
  const known = groupings.filter((grouping) => names.includes(grouping))
  if (known.length === names.length) return names as Grouping[]
  throw new InvalidArgumentError(`Allowed are ${groupings.join(', ')}, or several with a comma between them.`)
}

interface TokensOptions extends Options {
  readonly groupBy?: Grouping[]
  readonly month?: true
}

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('tokens')
    .description('show what is known about tokens, each number with its source')
    .addOption(
      new Option('--group-by <what>', 'one row for each of these, or of several with commas; by default day')
        .choices(groupings)
        .argParser(readGroupings),
    )
    .addOption(new Option('--month', 'one row for each month').conflicts('groupBy'))
  addFilters(command, 'project', 'model', 'machine', 'period')
    .option('-n, --limit <n>', 'how many rows to print, 1 to 10000; by default 1000', wholeNumber(1, 10_000))
    .option('--notes', 'explain the numbers')
  command.allowExcessArguments().usage('[options] [command]')
  command.hook('preAction', (_, acting) => (acting === command ? refuseExcess(command, command.args) : undefined))
  addImportCommand(command, session)
  const examples = [
    'cursordex tokens --group-by model --from 2026-01',
    'cursordex tokens --project shop --month',
  ] as const
  session.asks(command, examples, async (answers, { json, notes, month, ...given }: TokensOptions) => {
    const { screen } = session
    const isOnTerminal = screen.width !== null
    const query: Query = { ...inOwnZone(given, screen, true), ...(month === true && { groupBy: ['month' as const] }) }
    const ask = (more: Query): Promise<TokensAnswer> => answers.get('/api/tokens', { query: { ...query, ...more } })
    const isPlain = isOnTerminal && !hasDates(given) && query.groupBy === undefined && given.limit === undefined
    const last = isPlain && json !== true ? await ask({ from: '29d' }) : null
    // Older chats only: their months say more than empty days.
    const isOld = last !== null && last.totals.coverage.messages === 0
    const recent = isOld ? null : last
    const answer = recent ?? (await ask(isOld ? { groupBy: ['month'] } : {}))
    if (json === true) return session.printJson(answer)
    // Of days, weeks and months a terminal shows the newest first. The answer has the oldest first.
    const isOfTime = (query.groupBy ?? ['day']).some((each) => ['day', 'week', 'month'].includes(each))
    const rows: Labelled[] = isOnTerminal && isOfTime ? answer.rows.toReversed() : [...answer.rows]
    if (recent !== null) {
      const spans = await Promise.all(SPANS.slice(0, 2).map(([, from]) => ask({ from })))
      const sums = [...spans, recent].map(({ totals }, index) => ({ ...totals, label: SPANS[index]?.[0] ?? '' }))
      const more = rows.length - DAYS_MAX
      await session.show(renderTokens([...sums, ...rows.slice(0, DAYS_MAX)], recent.totals, screen))
      const earlier = more > 0 ? `And ${countText(more, 'earlier day')}: add --from 30d. ` : ''
      await session.note(`${earlier}For all, by month: --month.\n`)
    } else await session.show(renderTokens([...rows, { ...answer.totals, label: 'all' }], answer.totals, screen))
    if (answer.omitted !== null) await session.note(`${answer.omitted}\n`)
    if (notes === true || !isOnTerminal) await session.note(explainTokens(answer))
    else {
      const { messages } = answer.undated
      if (messages > 0 && hasDates(given)) await session.note(undatedText(messages))
      await session.note('For what the numbers mean, add --notes.\n')
    }
    if (answer.rows.length === 0) await noteUnknown(given, answers, session)
  })
}

/** With the sums above and the notes below, as many days fit a terminal of 24 lines. */
const DAYS_MAX = 15

function addImportCommand(tokensCommand: Command, session: Session): void {
  const command = tokensCommand
    .command('import')
    .description('import a usage file that you downloaded from Cursor’s dashboard')
    .argument('<csv>', 'the file')
  const example = 'cursordex tokens import usage-events.csv'
  addExamples(command, example, `${example} --json`).action(async (file: string) => {
    const text = readText(file, FILE_BYTES_MAX, 'Name the file that you downloaded from Cursor’s dashboard.')
    await session.ask(command, async (answers) => {
      const answer = await answers.post('/api/tokens/import', { body: new CsvText(text) })
      await session.printAnswer(command, answer, importText)
    })
  })
}

/** The daemon takes fewer bytes, and says how many. */
const FILE_BYTES_MAX = 64 * 1024 * 1024

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

const shortFormat = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** How numbers are written: in full, or on a terminal short: `850`, `9.1k`, `138k`, `1.2M`. */
const numbersOf =
  ({ width }: Screen) =>
  (count: number): string =>
    width === null ? numberText(count) : shortFormat.format(count).replace('K', 'k')

/** A table of lines of which the last has the totals. A pipe gets all columns, because it has no heads. */
function renderTokens(
  lines: readonly Labelled[],
  { imported, priced, ...totals }: TokenSources,
  screen: Screen,
): string {
  const write = numbersOf(screen)
  const isAll = screen.width === null
  const pair = (row: { readonly input: number | null; readonly output: number | null } | null): string =>
    row === null ? '-' : [row.input, row.output].map((value) => (value === null ? '-' : write(value))).join(' / ')
  // Usage files of 2025 have only a total.
  const importedText = (row: TokenSources['imported']): string =>
    typeof row?.total === 'number' && row.input === null && row.output === null
      ? `${write(row.total)} total`
      : pair(row)
  const columns: readonly (RowColumn<Labelled> | false)[] = [
    {
      title: 'known',
      from: 110,
      read: ({ coverage: { messages, unknown } }) => `${numberText(messages - unknown)} of ${numberText(messages)}`,
    },
    { title: 'recorded in/out', read: ({ recorded }) => pair(recorded) },
    (isAll || totals.recordedCents !== null) && { title: 'cost', from: 90, read: (row) => dollars(row.recordedCents) },
    (isAll || priced !== null) && { title: 'list price', from: 60, read: (row) => pricedText(row.priced) },
    (isAll || imported !== null) && { title: 'imported in/out', from: 80, read: (row) => importedText(row.imported) },
    (isAll || imported !== null) && { title: 'imp. cost', from: 100, read: (row) => dollars(row.imported?.cents) },
    { title: 'estimated in/out', read: ({ estimated }) => pair(estimated) },
    (isAll || totals.contextSnapshot !== null) && {
      title: 'context',
      from: 120,
      read: ({ contextSnapshot }) => (contextSnapshot === null ? null : write(contextSnapshot.tokens)),
    },
  ]
  const numbers = columns.filter((column) => column !== false)
  const all = numbers.map((column) => ({ ...column, align: 'right' as const, widthMin: 6 }))
  return renderRows([{ title: '', widthMin: 10, read: ({ label }) => label }, ...all], lines, screen)
}

type Labelled = TokenSources & { readonly label: string }

/** Sentences that explain the numbers. */
function explainTokens({ totals, imports, prices, notes }: TokensAnswer): string {
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

function importText({ rows, matched, unmatched, already, rematched }: ImportAnswer): string[] {
  return [
    `${countText(rows, 'row')}: ${numberText(matched)} matched to a chat, ${numberText(unmatched)} not matched, ${numberText(already)} already imported`,
    ...(rematched > 0 ? [`${countText(rematched, 'earlier row')} matched to a chat now`] : []),
  ]
}
