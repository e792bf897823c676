import type { ListComparison } from '../api/queries/compare-lists.ts'
import type { ReasonCount, SourceFindings } from '../api/queries/examine-source.ts'
import { bytesText, countText, localTime, numberText } from './formats.ts'
import { printableLine } from '../text/printable.ts'
import type { Screen } from './screen.ts'
import { renderTable } from './table.ts'

/** Rows of one store, each counted once; `noise` is counted in the store itself where that could be looked at. */
export interface Accounting {
  readonly rows: number
  readonly read: number
  readonly orphans: number
  readonly issues: number
  /** Rows that hold no chat, those of no known family among them. */
  readonly noise: number
  readonly unknown: number
  /** What the sum leaves open; less than 0 where it counts more than there is. */
  readonly unaccounted: number
}

export interface UnknownRows {
  readonly table: string
  /** Null where the whole table is unknown. */
  readonly family: string | null
  readonly rows: number | null
  readonly bytes: number | null
  readonly isChatLike: boolean
}

export interface FamilyReport {
  readonly table: string
  readonly family: string
  readonly use: string
  readonly rows: number
  readonly bytes: number
}

/** What the store itself was seen to hold. */
export interface SurveyReport {
  readonly tables: readonly {
    readonly name: string
    readonly use: string
    readonly rows: number | null
    readonly bytes: number | null
    readonly unnamedRows: number
    readonly privateRows: number
  }[]
  readonly families: readonly FamilyReport[]
  readonly unknownFamilies: readonly UnknownRows[]
  readonly unknownTables: readonly UnknownRows[]
  readonly unknownVersions: readonly { readonly family: string; readonly versions: readonly (number | 'other')[] }[]
}

export interface StoreReport {
  readonly id: string
  readonly kind: string
  readonly path: string
  readonly state: string
  readonly detail: string | null
  readonly lastSyncAt: string | null
  /** Null where the mirror knows nothing of it. */
  readonly chats: SourceFindings['chats'] | null
  readonly messages: SourceFindings['messages'] | null
  readonly issues: readonly ReasonCount[]
  readonly accounting: Accounting | null
  /** Null where this kind of store is not looked at, or could not be. */
  readonly survey: SurveyReport | null
}

export interface DoctorReport {
  readonly mirror: { readonly path: string; readonly state: 'read' | 'missing' | 'other-version' }
  readonly stores: readonly StoreReport[]
  readonly comparison: ListComparison | null
  /** What no known reader reads, and looks like chats. */
  readonly unknownChats: readonly UnknownRows[]
}

type Line = readonly [label: string, text: string]

export function renderDoctor(report: DoctorReport, screen: Screen): string {
  const calm = report.stores.filter(isCalm)
  const blocks = report.stores.filter((store) => !isCalm(store)).map((store) => renderStore(store, screen))
  const rest = calm.length === 0 ? [] : [renderCalm(calm, screen)]
  const empty = report.stores.length === 0 ? ['No Cursor was found yet.\n'] : []
  return [...empty, ...blocks, ...rest, renderEnd(report, screen)].join('\n')
}

/** Where all is well and nothing was looked at beyond the mirror, a row of a table says it. */
const isCalm = (store: StoreReport): boolean =>
  store.survey === null &&
  (store.state === 'ok' || store.state === 'missing') &&
  store.issues.length === 0 &&
  store.messages !== null &&
  store.messages.gone === 0 &&
  store.accounting?.unaccounted === 0

function renderCalm(stores: readonly StoreReport[], screen: Screen): string {
  const columns = [
    { title: 'store' },
    { title: 'state' },
    { title: 'chats', align: 'right' as const },
    { title: 'whole', align: 'right' as const },
    { title: 'messages', align: 'right' as const },
    { title: 'rows', align: 'right' as const },
    { title: 'path', widthMin: 12 },
  ]
  const rows = stores.map(({ kind, state, chats, messages, accounting, path }) => [
    kind,
    state,
    numberText(chats?.total ?? 0),
    numberText(chats?.whole ?? 0),
    numberText(messages?.held ?? 0),
    numberText(accounting?.rows ?? 0),
    path,
  ])
  return renderTable(columns, rows, screen)
}

function renderStore(store: StoreReport, screen: Screen): string {
  const { kind, path, chats, messages, issues, accounting, survey } = store
  const lines: readonly Line[] = [
    ['state', stateText(store, screen)],
    ...(chats === null ? [] : [['chats', chatsText(chats)] as const]),
    ...(messages === null ? [] : [['messages', messagesText(messages)] as const]),
    ...(accounting === null ? [] : [['rows', accountingText(accounting)] as const]),
    ...issues.map((issue): Line => ['unreadable', issueText(issue)]),
    ...(survey === null ? [] : surveyLines(survey)),
  ]
  return `${screen.colours.bold(printableLine(kind))} ${printableLine(path)}\n${renderLines(lines, screen)}`
}

const renderLines = (lines: readonly Line[], screen: Screen): string =>
  lines
    .map(([label, text], index) => {
      const isRepeated = index > 0 && lines[index - 1]?.[0] === label
      return `  ${screen.colours.dim((isRepeated ? '' : label).padEnd(10))} ${printableLine(text)}\n`
    })
    .join('')

function stateText({ state, detail, lastSyncAt }: StoreReport, screen: Screen): string {
  const why = detail === null || detail === '' ? '' : `: ${detail}`
  return `${state}${why}${lastSyncAt === null ? '' : `; last read ${localTime(lastSyncAt, screen.timeZone)}`}`
}

function chatsText({ total, whole, incomplete, empty }: SourceFindings['chats']): string {
  const parts = [`${numberText(whole)} whole`]
  if (incomplete > 0) parts.push(`${numberText(incomplete)} not whole`)
  if (empty > 0) parts.push(`${numberText(empty)} empty`)
  return `${numberText(total)}: ${parts.join(', ')}`
}

function messagesText(messages: SourceFindings['messages']): string {
  const { held, named, gone, blank, unreadable, keptHere, orphans } = messages
  const parts = [`${numberText(held)} held, ${numberText(named)} named by Cursor’s lists`]
  parts.push(`${countText(gone, 'message')} Cursor no longer holds`)
  if (keptHere > 0) parts.push(`${numberText(keptHere)} only the mirror holds`)
  if (blank > 0) parts.push(`${numberText(blank)} with nothing in them`)
  if (unreadable > 0) parts.push(`${numberText(unreadable)} that could not be read`)
  if (orphans > 0) parts.push(countText(orphans, 'orphan'))
  return parts.join('; ')
}

function accountingText({ rows, read, orphans, issues, noise, unknown, unaccounted }: Accounting): string {
  const share = unknown > 0 ? ` (${numberText(unknown)} of them unknown)` : ''
  const sum = read + orphans + issues + noise
  const terms = [
    `${numberText(read)} read`,
    countText(orphans, 'orphan'),
    countText(issues, 'issue'),
    `${numberText(noise)} noise${share}`,
  ]
  return `${terms.join(' + ')} = ${numberText(sum)} of ${countText(rows, 'row')}${endText(unaccounted)}`
}

function endText(unaccounted: number): string {
  if (unaccounted === 0) return ''
  const what = unaccounted > 0 ? 'not accounted for' : 'more than there are'
  return `; ${numberText(Math.abs(unaccounted))} ${what}: run "cursordex sync" and look again`
}

const issueText = ({ reason, count, example }: ReasonCount): string =>
  `${numberText(count)} ${reason}${example === null ? '' : `, such as ${example}`}`

function surveyLines(survey: SurveyReport): readonly Line[] {
  const unknown = [...survey.unknownFamilies, ...survey.unknownTables]
  return [
    ...survey.families.map((family): Line => ['holds', familyText(family)]),
    ...unknown.map((rows): Line => ['unknown', unknownText(rows)]),
    ...survey.unknownVersions.map(({ family, versions }): Line => ['versions', `${family} ${versions.join(', ')}`]),
  ]
}

const familyText = ({ family, use, rows, bytes }: FamilyReport): string =>
  `${family} ${countText(rows, 'row')}, ${bytesText(bytes)}${use === 'read' ? ', read' : ''}`

function unknownText({ table, family, rows, bytes, isChatLike }: UnknownRows): string {
  const size = bytes === null ? '' : `, ${bytesText(bytes)}`
  const count = rows === null ? '' : ` ${countText(rows, 'row')}${size}`
  return `${family ?? `table ${table}`}${count}${isChatLike ? '; looks like chats' : ''}`
}

function renderEnd({ mirror, comparison, unknownChats }: DoctorReport, screen: Screen): string {
  if (comparison === null) {
    const why = mirror.state === 'missing' ? 'There is no mirror yet' : 'The mirror is of another version'
    return `${printableLine(`${why}: only the stores were looked at (${mirror.path}).`)}\n`
  }
  const { known, differences } = comparison
  const only = differences.filter(({ chats }) => chats > 0)
  const lines: readonly Line[] = [
    [
      'chats in',
      Object.entries(known)
        .map(([origin, chats]) => `${origin} ${numberText(chats)}`)
        .join(', '),
    ],
    ...only.map(({ in: one, notIn, chats }): Line => ['', `${numberText(chats)} in ${one}, absent from ${notIn}`]),
    ...(unknownChats.length > 0 ? [['verdict', 'something that looks like chats is not read'] as const] : []),
  ]
  return renderLines(lines, screen)
}
