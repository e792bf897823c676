import type { SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import type { Accounting, DoctorReport, FamilyReport, StoreReport, SurveyReport, UnknownRows } from './doctor-report.ts'
import { displayWidth, fittingEnd, wrap } from '../../terminal/display-width.ts'
import { bytesText, countText, numberText, timeText } from '../../terminal/formats.ts'
import { printableLine } from '../../../text/printable.ts'
import { attentionOf, isAbsent, renderAttention } from './doctor-attention.ts'
import type { Screen } from '../../terminal/screen.ts'
import { renderTable } from '../../terminal/table.ts'
import type { LossCounts } from '../../../api/http/schemas/chats.ts'

type Line = readonly [label: string, text: string]

/**
 * What needs attention, then each store, then sums.
 * @param isAll also shows places that do not exist, and the contents of each store
 */
export function renderDoctor(report: DoctorReport, screen: Screen, isAll: boolean): string {
  const shown = report.stores.filter((store) => isAll || !isAbsent(store))
  const unhealthy = shown.filter((store) => attentionOf(store).length > 0)
  const healthy = shown.filter((store) => attentionOf(store).length === 0)
  const brief = healthy.filter((store) => !isAll && isBrief(store))
  const blocks = [...unhealthy, ...healthy.filter((store) => !brief.includes(store))]
  return [
    renderAttention(report, screen),
    ...blocks.map((store) => renderStore(store, screen, isAll)),
    ...(brief.length === 0 ? [] : [renderBrief(brief, screen)]),
    renderEnd(report, report.stores.length - shown.length, screen, isAll),
  ].join('\n')
}

/** A store without losses and unknown data is shown as one row of a table. */
const isBrief = ({ survey, state, chats, messages }: StoreReport): boolean =>
  state === 'ok' &&
  messages !== null &&
  messages.gone + messages.keptHere + (chats?.lost ?? 0) === 0 &&
  (survey === null || surveyLines(survey, false).length === 0)

/** Width of the columns other than the path. */
const OTHER_COLUMNS_WIDTH = 48

function renderBrief(stores: readonly StoreReport[], screen: Screen): string {
  const columns = [
    { title: 'store' },
    { title: 'chats', align: 'right' as const },
    { title: 'messages', align: 'right' as const },
    { title: 'rows', align: 'right' as const },
    { title: 'path', widthMin: 12 },
  ]
  const rows = stores.map(({ kind, chats, messages, accounting, path }) => [
    kind,
    numberText(chats?.total ?? 0),
    numberText(messages?.held ?? 0),
    numberText(accounting?.rows ?? 0),
    endOf(path, screen),
  ])
  return renderTable(columns, rows, screen)
}

/** Long paths are cut at the beginning, because they differ at the end. */
function endOf(path: string, { width }: Screen): string {
  const room = width === null ? Infinity : Math.max(20, width - OTHER_COLUMNS_WIDTH)
  const text = printableLine(path)
  return displayWidth(text) <= room ? text : `…${fittingEnd(text, room - 1)}`
}

function renderStore(store: StoreReport, screen: Screen, isAll: boolean): string {
  const { kind, path, chats, messages, accounting, survey } = store
  const lines: readonly Line[] = [
    ['state', stateText(store, screen)],
    ...(chats === null ? [] : [['chats', chatsText(chats)] as const]),
    ...(messages === null ? [] : [['messages', messagesText(messages)] as const]),
    ...(accounting === null ? [] : [['rows', accountingText(accounting)] as const]),
    ...(survey === null ? [] : surveyLines(survey, isAll || accounting === null)),
  ]
  return `${screen.colours.bold(kind)} ${wrap(printableLine(path), kind.length + 1, screen)}\n${renderLines(lines, screen)}`
}

const LABEL_WIDTH = 10

const renderLines = (lines: readonly Line[], screen: Screen): string =>
  lines
    .map(([label, text], index) => {
      const isRepeated = index > 0 && lines[index - 1]?.[0] === label
      const head = (isRepeated ? '' : label).padEnd(LABEL_WIDTH)
      return `  ${screen.colours.dim(head)} ${wrap(printableLine(text), LABEL_WIDTH + 3, screen)}\n`
    })
    .join('')

function stateText({ state, lastSyncAt }: StoreReport, screen: Screen): string {
  const what = state === 'missing' ? 'not found' : state
  return lastSyncAt === null ? what : `${what}, last read ${timeText(lastSyncAt, screen)}`
}

function chatsText({ total, incomplete, empty, lost }: SourceFindings['chats']): string {
  const parts = [numberText(total)]
  if (incomplete > 0) parts.push(`${numberText(incomplete)} with missing messages`)
  if (empty > 0) parts.push(`${numberText(empty)} without messages`)
  if (lost > 0) parts.push(`${numberText(lost)} deleted in Cursor, still here`)
  return parts.join(', ')
}

function messagesText(messages: SourceFindings['messages']): string {
  const { held, gone, blank, unreadable, keptHere, orphans } = messages
  const parts = [numberText(held)]
  if (keptHere > 0) parts.push(`${numberText(keptHere)} deleted in Cursor, still here`)
  if (gone > 0) parts.push(`${numberText(gone)} deleted before the first read`)
  if (unreadable > 0) parts.push(`${numberText(unreadable)} unreadable`)
  if (blank > 0) parts.push(`${numberText(blank)} empty`)
  if (orphans > 0) parts.push(`${countText(orphans, 'orphan')} that the chat no longer lists`)
  return parts.join(', ')
}

function accountingText({ rows, read, orphans, issues, noise, unknown }: Accounting): string {
  if (read === rows) return `${numberText(rows)}, all read`
  // Missing rows still count as read until a second comparison.
  if (read > rows) return `${numberText(rows)} now, ${numberText(read)} read before`
  const parts = [`${numberText(read)} read`]
  if (orphans > 0) parts.push(countText(orphans, 'orphan'))
  if (issues > 0) parts.push(`${numberText(issues)} unreadable`)
  if (noise > 0) parts.push(`${numberText(noise)} other data${unknown > 0 ? ` (${numberText(unknown)} unknown)` : ''}`)
  return `${numberText(rows)}: ${parts.join(', ')}`
}

function surveyLines(survey: SurveyReport, isAll: boolean): readonly Line[] {
  const unknown = [...survey.unknownFamilies, ...survey.unknownTables]
  return [
    ...(isAll ? survey.families.map((family): Line => ['contains', familyText(family)]) : []),
    ...unknown.map((rows): Line => ['unknown', unknownText(rows)]),
    ...survey.unknownVersions.map(({ family, versions }): Line => [
      'newer',
      `${family} has version ${versions.join(', ')}, which this cursordex does not know; it is still read`,
    ]),
  ]
}

const familyText = ({ family, use, rows, bytes }: FamilyReport): string =>
  `${family} ${countText(rows, 'row')}, ${bytesText(bytes)}${use === 'read' ? ', read' : ''}`

function unknownText({ table, family, rows, bytes, isChatLike }: UnknownRows): string {
  const size = bytes === null ? '' : `, ${bytesText(bytes)}`
  const count = rows === null ? '' : ` ${countText(rows, 'row')}${size}`
  return `${family ?? `table ${table}`}${count}${isChatLike ? '; looks like chats' : ''}`
}

function renderEnd({ comparison, losses }: DoctorReport, absent: number, screen: Screen, isAll: boolean): string {
  const sentences: string[] = []
  if (losses !== null) sentences.push(lossesText(losses))
  if (comparison !== null) {
    const { lists, rows, transcripts } = comparison.known
    const counts = `${numberText(rows)} in its stores, ${numberText(lists)} in its lists, ${numberText(transcripts)} in transcripts`
    sentences.push(`Chats in Cursor: ${counts}. A chat can be in several places.`)
  }
  const only = isAll ? (comparison?.differences ?? []).filter(({ chats }) => chats > 0) : []
  sentences.push(
    ...only.map(({ in: one, notIn, chats }) => `${numberText(chats)} of those in ${one} are not in ${notIn}.`),
  )
  if (absent > 0) {
    const what = absent === 1 ? '1 place does not exist and is' : `${numberText(absent)} places do not exist and are`
    sentences.push(`${what} not shown. "cursordex doctor --all" shows them.`)
  }
  return sentences.map((text) => `${wrap(text, 0, screen)}\n`).join('')
}

/** The same wording as in `cursordex losses`. */
function lossesText({ messages, chats }: LossCounts): string {
  if (messages + chats === 0) return 'Nothing was lost.'
  const what = [chats > 0 ? countText(chats, 'chat') : '', messages > 0 ? countText(messages, 'message') : '']
  return `Deleted in Cursor, still here: ${what.filter((text) => text !== '').join(' and ')}. "cursordex losses" lists them.`
}
