import type { ReasonCount } from '../../../api/queries/sources/examine-source.ts'
import { pendingLossText } from '../../../engine/source-reasons.ts'
import { printableLine } from '../../../text/printable.ts'
import type { DoctorReport, StoreReport } from './doctor-report.ts'
import { countText, numberText } from '../../terminal/formats.ts'
import type { Screen } from '../../terminal/screen.ts'
import { wrap } from '../../terminal/display-width.ts'

/** True if the store does not exist and nothing was ever read from it. */
export const isAbsent = ({ state, chats, messages, issues }: StoreReport): boolean =>
  state === 'missing' && (chats?.total ?? 0) === 0 && (messages?.held ?? 0) === 0 && issues.length === 0

const REPORT = 'Please report it with the output of "cursordex doctor --shape", which contains no text of a chat.'

/** What is wrong and what to do, as a list of sentences. If nothing is wrong, it says so. */
export function renderAttention(report: DoctorReport, screen: Screen): string {
  const { mirror, stores, unknownChats } = report
  const names = unknownChats.map(({ table, family }) => family ?? `the table ${table}`)
  const sentences = [
    ...(unknownChats.length === 0 ? [] : [`Data that looks like chats is not read: ${names.join(', ')}. ${REPORT}`]),
    ...stores.flatMap((store) => attentionOf(store).map((text) => `${store.path}: ${text}`)),
    ...(mirror.state === 'missing'
      ? [`There is no mirror yet (${mirror.path}), so only the stores were checked. "cursordex sync" makes one.`]
      : []),
    ...(mirror.state === 'other-version'
      ? [`The mirror (${mirror.path}) belongs to another version of cursordex, so only the stores were checked.`]
      : []),
  ]
  if (stores.every(isAbsent))
    return 'No Cursor was found yet.\n' + sentences.map((text) => bullet(text, screen)).join('')
  if (sentences.length === 0) return 'No problems: every store was read completely.\n'
  return `${screen.colours.bold('Needs attention')}\n${sentences.map((text) => bullet(text, screen)).join('')}`
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
