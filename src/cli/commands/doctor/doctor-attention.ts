import type { ReasonCount } from '../../../api/queries/sources/examine-source.ts'
import { pendingLossText } from '../../../engine/source-reasons.ts'
import { printableLine } from '../../../text/printable.ts'
import type { DoctorReport, StoreReport } from './doctor-report.ts'
import { countText, numberText } from '../../terminal/formats.ts'
import type { Screen } from '../../terminal/screen.ts'
import { wrap } from '../../terminal/display-width.ts'

/** Where there is nothing, and nothing was ever read. */
export const isAbsent = ({ state, chats, messages, issues }: StoreReport): boolean =>
  state === 'missing' && (chats?.total ?? 0) === 0 && (messages?.held ?? 0) === 0 && issues.length === 0

const REPORT = 'Please report it with what "cursordex doctor --shape" says: that holds no word of a chat.'

/** What is wrong, in sentences that say what to do; or that all is well. */
export function renderAttention(report: DoctorReport, screen: Screen): string {
  const { mirror, stores, unknownChats } = report
  const names = unknownChats.map(({ table, family }) => family ?? `the table ${table}`)
  const sentences = [
    ...(unknownChats.length === 0
      ? []
      : [`Something that looks like chats is not read: ${names.join(', ')}. ${REPORT}`]),
    ...stores.flatMap((store) => attentionOf(store).map((text) => `${store.path}: ${text}`)),
    ...(mirror.state === 'missing'
      ? [`There is no mirror yet, so only the stores were looked at (${mirror.path}). "cursordex sync" makes one.`]
      : []),
    ...(mirror.state === 'other-version'
      ? [`The mirror is of another version of cursordex, so only the stores were looked at (${mirror.path}).`]
      : []),
  ]
  if (stores.every(isAbsent))
    return 'No Cursor was found yet.\n' + sentences.map((text) => bullet(text, screen)).join('')
  if (sentences.length === 0) return 'All is well: every store was read whole.\n'
  return `${screen.colours.bold('Needs attention')}\n${sentences.map((text) => bullet(text, screen)).join('')}`
}

/** What is wrong with a store, each in a sentence that says what to do. */
export function attentionOf({ state, detail, issues, accounting, pendingLoss }: StoreReport): readonly string[] {
  const sentences: string[] = []
  if (state === 'not read yet') sentences.push('It was not read yet. Start the daemon, or run "cursordex sync".')
  else if (state !== 'ok' && state !== 'missing') {
    sentences.push(`The store is ${state}${detail === null || detail === '' ? '.' : `: ${detail}`}`)
  }
  if (pendingLoss !== null) sentences.push(pendingLossText(pendingLoss))
  const unread = issues.reduce((sum, { count }) => sum + count, 0)
  if (unread > 0) {
    sentences.push(
      `${countText(unread, 'row')} could not be read (${issues.map(issueText).join('; ')}). All else was read.`,
    )
  }
  const open = accounting?.unaccounted ?? 0
  if (open !== 0 && pendingLoss === null) {
    const what = open > 0 ? 'not accounted for' : 'counted twice or gone'
    const be = Math.abs(open) === 1 ? 'is' : 'are'
    sentences.push(`${countText(Math.abs(open), 'row')} ${be} ${what}. Run "cursordex sync" and look again.`)
  }
  return sentences
}

const issueText = ({ reason, count, example }: ReasonCount): string =>
  `${numberText(count)} ${reason}${example === null ? '' : `, such as ${example}`}`

const bullet = (text: string, screen: Screen): string => `- ${wrap(printableLine(text), 2, screen)}\n`
