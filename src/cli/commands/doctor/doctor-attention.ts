import { join } from 'node:path'
import type { ReasonCount } from '../../../api/queries/sources/examine-source.ts'
import { pendingLossText } from '../../../engine/source-reasons.ts'
import { printableLine } from '../../../text/printable.ts'
import type { DoctorReport, SetAsideReport, StoreReport } from './doctor-report.ts'
import { countText, numberText } from '../../terminal/formats.ts'
import type { Screen } from '../../terminal/screen.ts'
import { wrap } from '../../terminal/display-width.ts'

/** True if the store does not exist and nothing was ever read from it. */
export const isAbsent = ({ state, chats, messages, issues }: StoreReport): boolean =>
  state === 'missing' && (chats?.total ?? 0) === 0 && (messages?.held ?? 0) === 0 && issues.length === 0

const REPORT = 'Please report it with the output of "cursordex doctor --shape", which contains no text of a chat.'

/** What was not read, or not completely, and what to do, one sentence for each. */
export function attentionIn(report: Omit<DoctorReport, 'attention'>): string[] {
  const { mirror, stores, unknownChats, setAside } = report
  const names = unknownChats.map(({ table, family }) => family ?? `the table ${table}`)
  return [
    ...(unknownChats.length === 0 ? [] : [`Data that looks like chats is not read: ${names.join(', ')}. ${REPORT}`]),
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

/** The sentences as a list. If nothing is wrong, it says so. */
export function renderAttention({ stores, attention }: DoctorReport, screen: Screen): string {
  const bullets = attention.map((text) => bullet(text, screen)).join('')
  if (stores.every(isAbsent)) return `No Cursor was found yet.\n${bullets}`
  if (attention.length === 0) return 'No problems: every store was read completely.\n'
  return `${screen.colours.bold('Needs attention')}\n${bullets}`
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

/** What is wrong with a store and what to do, one sentence for each problem. */
export function attentionOf({ state, detail, issues, accounting, pendingLoss }: StoreReport): readonly string[] {
  const sentences: string[] = []
  if (state === 'not read yet') sentences.push('It has not been read yet. Start the daemon, or run "cursordex sync".')
  else if (state !== 'ok' && state !== 'missing') {
    sentences.push(`The store is ${state}${detail === null || detail === '' ? '.' : `: ${detail}`}`)
  }
  if (pendingLoss !== null) sentences.push(pendingLossText(pendingLoss))
  const unread = issues.reduce((sum, { count }) => sum + count, 0)
  if (unread > 0) {
    sentences.push(
      `${countText(unread, 'row')} could not be read (${issues.map(issueText).join('; ')}). Everything else was read.`,
    )
  }
  const unaccounted = accounting?.unaccounted ?? 0
  if (unaccounted !== 0 && pendingLoss === null) {
    const what = unaccounted > 0 ? 'not accounted for' : 'counted twice or missing'
    const be = Math.abs(unaccounted) === 1 ? 'is' : 'are'
    sentences.push(`${countText(Math.abs(unaccounted), 'row')} ${be} ${what}. Run "cursordex sync" and check again.`)
  }
  return sentences
}

const issueText = ({ reason, count, example }: ReasonCount): string =>
  `${numberText(count)} ${reason}${example === null ? '' : `, such as ${example}`}`

const bullet = (text: string, screen: Screen): string => `- ${wrap(printableLine(text), 2, screen)}\n`
