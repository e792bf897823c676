import { join } from 'node:path'
import type { LossCounts } from '../../../api/answers/chats.ts'
import { pendingLossText } from '../../../engine/source-reasons.ts'
import { printableLine } from '../../../text/printable.ts'
import { renderAttention, renderBullets, wrap } from '../../terminal/text.ts'
import { countText, numberText } from '../../terminal/formats.ts'
import { lossText } from '../status.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderRows } from '../../terminal/table.ts'
import type { DoctorReport, SetAsideReport, StoreReport } from './doctor.ts'

/** True if the store does not exist and nothing was ever read from it. */
const isAbsent = ({ state, chats, messages, issues }: StoreReport): boolean =>
  state === 'missing' && (chats?.total ?? 0) === 0 && (messages?.held ?? 0) === 0 && issues.length === 0

/** What was not read, or not completely, and what to do, one sentence for each. */
export function attentionIn({ mirror, stores, setAside }: Omit<DoctorReport, 'attention'>): string[] {
  return [
    ...stores.flatMap((store) => attentionOf(store).map((text) => `${store.path}: ${text}`)),
    ...setAside.flatMap(setAsideText),
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

function setAsideText({ path, place, chats, trouble }: SetAsideReport): string[] {
  const unread = trouble === null ? [] : [`${path}: Cursor set this file aside, and it could not be read: ${trouble}`]
  if (chats === 0) return unread
  const count = `${trouble === null ? '' : 'at least '}${countText(chats, 'chat')}`
  const copy = `copy it to ${join('<folder>', 'User', place)}`
  const sync = `"cursordex sync --cursor-user-dir ${join('<folder>', 'User')}"`
  return [
    `${path}: Cursor set this file aside, with ${count} that the mirror does not have. To read them, stop the daemon, ${copy}, run ${sync} and start the daemon again.`,
    ...unread,
  ]
}

/**
 * What needs attention, then a table of the stores, then what this version does not know, then sums.
 * @param isAll also shows places that do not exist
 */
export function renderDoctor(report: DoctorReport, screen: Screen, isAll: boolean): string {
  const shown = report.stores.filter((store) => isAll || !isAbsent(store))
  const sections = [
    headOf(report, screen),
    shown.length === 0 ? '' : renderStores(shown, screen),
    renderBullets(shown.flatMap(unknownIn), screen),
    renderEnd(report, report.stores.length - shown.length, screen),
  ]
  return sections.filter((section) => section !== '').join('\n')
}

/** What needs attention. If nothing is wrong, it says so. */
function headOf({ stores, attention }: DoctorReport, screen: Screen): string {
  if (stores.every(isAbsent)) return `No Cursor was found yet.\n${renderBullets(attention, screen)}`
  return renderAttention(attention, screen) || 'No problems: every store was read completely.\n'
}

const keptHere = ({ messages }: StoreReport): number => messages?.keptHere ?? 0

/** Width of the columns other than the path. */
const OTHER_COLUMNS_WIDTH = 56

function renderStores(stores: readonly StoreReport[], screen: Screen): string {
  // Long paths differ at the end.
  const room = screen.width === null ? Infinity : Math.max(20, screen.width - OTHER_COLUMNS_WIDTH)
  const endOf = (path: string): string => (path.length <= room ? path : `…${path.slice(1 - room)}`)
  return renderRows(
    [
      { title: 'store', read: ({ kind }) => kind },
      { title: 'state', widthMin: 8, read: ({ state }) => (state === 'missing' ? 'not found' : state) },
      { title: 'chats', align: 'right', read: ({ chats }) => chats?.total ?? null },
      { title: 'messages', align: 'right', read: ({ messages }) => messages?.held ?? null },
      { title: 'deleted', align: 'right', read: keptHere, isNeededFor: (store) => keptHere(store) > 0 },
      { title: 'rows', align: 'right', read: ({ rows }) => rows?.total ?? null },
      { title: 'path', widthMin: 12, read: ({ path }) => endOf(printableLine(path)) },
    ],
    stores,
    screen,
  )
}

const unknownIn = ({ path, unknown }: StoreReport): string[] =>
  unknown.map(({ table, start, rows }) => {
    const what = start ?? `table ${table}`
    return `${what}: ${countText(rows, 'row')} that this version does not know, in ${path}`
  })

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
