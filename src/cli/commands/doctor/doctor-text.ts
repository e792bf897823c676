import type { LossCounts } from '../../../api/http/schemas/chats.ts'
import type { SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import { pendingLossText } from '../../../engine/source-reasons.ts'
import { printableLine } from '../../../text/printable.ts'
import { wrap } from '../../terminal/display-width.ts'
import { renderAttention, renderBullets, renderFacts, type Fact } from '../../terminal/facts.ts'
import { countText, lossText, numberText, timeText } from '../../terminal/formats.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderRows } from '../../terminal/table.ts'
import type { DoctorReport, StoreReport } from './doctor.ts'

/** True if the store does not exist and nothing was ever read from it. */
const isAbsent = ({ state, chats, messages, issues }: StoreReport): boolean =>
  state === 'missing' && (chats?.total ?? 0) === 0 && (messages?.held ?? 0) === 0 && issues.length === 0

/** What was not read, or not completely, and what to do, one sentence for each. */
export function attentionIn({ mirror, stores }: Pick<DoctorReport, 'mirror' | 'stores'>): string[] {
  return [
    ...stores.flatMap((store) => attentionOf(store).map((text) => `${store.path}: ${text}`)),
    ...(mirror.state === 'missing'
      ? [`There is no mirror yet (${mirror.path}), so only the stores were checked. "cursordex sync" makes one.`]
      : []),
    ...(mirror.state === 'other-version'
      ? [`The mirror (${mirror.path}) belongs to another version of cursordex, so only the stores were checked.`]
      : []),
  ]
}

function attentionOf({ state, detail, issues, pendingLoss }: StoreReport): string[] {
  const sentences: string[] = []
  if (state === 'not read yet') sentences.push('It has not been read yet. Start the daemon, or run "cursordex sync".')
  else if (state !== 'ok' && state !== 'missing') {
    sentences.push(`The store is ${state}${detail === null || detail === '' ? '.' : `: ${detail}`}`)
  }
  if (pendingLoss !== null) sentences.push(pendingLossText(pendingLoss))
  const unread = issues.reduce((sum, { count }) => sum + count, 0)
  const reasons = issues.map(
    ({ reason, count, example }) => `${numberText(count)} ${reason}${example === null ? '' : `, such as ${example}`}`,
  )
  if (unread > 0) {
    sentences.push(`${countText(unread, 'row')} could not be read (${reasons.join('; ')}). Everything else was read.`)
  }
  return sentences
}

/**
 * What needs attention, then each store, then sums.
 * @param isAll also shows places that do not exist, and each store by itself
 */
export function renderDoctor(report: DoctorReport, screen: Screen, isAll: boolean): string {
  const shown = report.stores.filter((store) => isAll || !isAbsent(store))
  const brief = isAll ? [] : shown.filter(isBrief)
  return [
    headOf(report, screen),
    ...shown.filter((store) => !brief.includes(store)).map((store) => renderStore(store, screen)),
    ...(brief.length === 0 ? [] : [renderBrief(brief, screen)]),
    renderEnd(report, report.stores.length - shown.length, screen),
  ].join('\n')
}

/** What needs attention. If nothing is wrong, it says so. */
function headOf({ stores, attention }: DoctorReport, screen: Screen): string {
  if (stores.every(isAbsent)) return `No Cursor was found yet.\n${renderBullets(attention, screen)}`
  return renderAttention(attention, screen) || 'No problems: every store was read completely.\n'
}

/** A store without problems, losses and unknown rows is one row of a table. */
const isBrief = (store: StoreReport): boolean =>
  store.state === 'ok' &&
  attentionOf(store).length + store.unknown.length === 0 &&
  (store.messages?.gone ?? 0) + (store.messages?.keptHere ?? 0) + (store.chats?.lost ?? 0) === 0

/** Width of the columns other than the path. */
const OTHER_COLUMNS_WIDTH = 48

function renderBrief(stores: readonly StoreReport[], screen: Screen): string {
  // Long paths differ at the end.
  const room = screen.width === null ? Infinity : Math.max(20, screen.width - OTHER_COLUMNS_WIDTH)
  const endOf = (path: string): string => (path.length <= room ? path : `…${path.slice(1 - room)}`)
  return renderRows(
    [
      { title: 'store', read: ({ kind }) => kind },
      { title: 'chats', align: 'right', read: ({ chats }) => chats?.total ?? 0 },
      { title: 'messages', align: 'right', read: ({ messages }) => messages?.held ?? 0 },
      { title: 'rows', align: 'right', read: ({ rows }) => rows?.total ?? 0 },
      { title: 'path', widthMin: 12, read: ({ path }) => endOf(printableLine(path)) },
    ],
    stores,
    screen,
  )
}

function renderStore(store: StoreReport, screen: Screen): string {
  const { kind, path, chats, messages, rows, unknown } = store
  const facts: readonly (Fact | null)[] = [
    ['state', stateText(store, screen)],
    chats && ['chats', chatsText(chats)],
    messages && ['messages', messagesText(messages)],
    rows && ['rows', rowsText(rows)],
    ...unknown.map(({ table, start, rows: count }): Fact => {
      return ['unknown', `${start ?? `table ${table}`}: ${countText(count, 'row')} that this version does not know`]
    }),
  ]
  const known = facts.filter((fact) => fact !== null)
  const head = `${screen.colours.bold(kind)} ${wrap(printableLine(path), kind.length + 1, screen)}\n`
  return `${head}${renderFacts(known, 2, screen)}`
}

function stateText({ state, lastSyncAt }: StoreReport, screen: Screen): string {
  const what = state === 'missing' ? 'not found' : state
  return lastSyncAt === null ? what : `${what}, last read ${timeText(lastSyncAt, screen)}`
}

/** The counts that are not 0, each with its words. */
const partsOf = (...counts: readonly (readonly [count: number, words: string])[]): string =>
  counts.flatMap(([count, words]) => (count > 0 ? [`, ${numberText(count)} ${words}`] : [])).join('')

const chatsText = ({ total, incomplete, empty, lost }: SourceFindings['chats']): string =>
  numberText(total) +
  partsOf([incomplete, 'with missing messages'], [empty, 'without messages'], [lost, 'deleted in Cursor, still here'])

const messagesText = ({ held, gone, blank, unreadable, keptHere, orphans }: SourceFindings['messages']): string =>
  numberText(held) +
  partsOf(
    [keptHere, 'deleted in Cursor, still here'],
    [gone, 'deleted before the first read'],
    [unreadable, 'unreadable'],
    [blank, 'empty'],
    [orphans, 'that the chat no longer lists'],
  )

function rowsText({ total, read, other }: NonNullable<StoreReport['rows']>): string {
  if (read === total) return `${numberText(total)}, all read`
  if (read > total) return `${numberText(total)} now, ${numberText(read)} read before`
  return `${numberText(total)}: ${numberText(read)} read${partsOf([other, 'other data'])}`
}

function renderEnd({ losses }: DoctorReport, absent: number, screen: Screen): string {
  const sentences = losses === null ? [] : [lossesText(losses)]
  if (absent > 0) {
    const what = absent === 1 ? '1 place does not exist and is' : `${numberText(absent)} places do not exist and are`
    sentences.push(`${what} not shown. "cursordex doctor --all" shows them.`)
  }
  return sentences.map((text) => `${wrap(text, 0, screen)}\n`).join('')
}

/** The same wording as in `cursordex losses`. */
const lossesText = (losses: LossCounts): string =>
  losses.messages + losses.chats === 0
    ? 'Nothing was lost.'
    : `Deleted in Cursor, still here: ${lossText(losses)}. "cursordex losses" lists them.`
