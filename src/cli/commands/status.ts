import type { Command } from 'commander'
import { printableLine } from '../../text/printable.ts'
import { addExamples, addJson, type Options } from '../input/options.ts'
import { readAnswer, type Session } from '../session.ts'
import type { Answers } from '../client/answers.ts'
import { renderAttention, wrap } from '../terminal/text.ts'
import { bytesText, countText, durationText, numberText, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'
import { statusAnswer, type Status } from '../../api/answers/status.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('status')
  command.option('--sources', 'list every source; on a terminal they are summed by kind otherwise')
  addJson(command)
  addExamples(command, 'cursordex status', 'cursordex status --json')
  command.action(() => showStatus(command, session))
}

async function showStatus(command: Command, session: Session): Promise<void> {
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/status', new URLSearchParams())
    const status = await readAnswer(statusAnswer, answer, command, session)
    if (status === null) return
    const { screen } = session
    const hasList = command.opts<Options>().sources === true || screen.width === null
    await session.print(renderStatus(status, answers.origin, screen, hasList))
  })
}

const LABEL_WIDTH = 10

/** @param hasList lists every source, not only sums and the sources that need attention */
function renderStatus(status: Status, origin: Answers['origin'], screen: Screen, hasList: boolean): string {
  const facts: readonly (readonly [label: string, text: string] | null)[] = [
    ['state', [status.state, ...status.reasons.map(reasonText)].join('; ')],
    ['daemon', daemonText(status, origin)],
    status.progress === null ? null : ['progress', progressText(status.progress)],
    ['mirrored', tallyText(withoutDeleted(status.counts))],
    status.losses ? ['deleted', lossesText(status.losses, screen)] : null,
    ['read', tallyText(status.coverage)],
    Object.keys(status.issues).length === 0 ? null : ['issues', tallyText(status.issues)],
    ['mirror', mirrorText(status.mirror)],
    typeof status.lagMs === 'number' ? ['delay', durationText(status.lagMs)] : null,
  ]
  const block = facts
    .filter((fact) => fact !== null)
    .map(([label, text]) => {
      const head = screen.colours.dim(label.padEnd(LABEL_WIDTH))
      return `${head} ${wrap(printableLine(text), LABEL_WIDTH + 1, screen)}\n`
    })
    .join('')
  if (status.sources.length === 0) return `${block}\nNo Cursor was found yet.\n`
  if (hasList) return `${block}\n${renderSources(status, screen)}`
  const attention = renderAttention(needingAttention(status), screen)
  return `${block}\n${sumSources(status, screen)}${attention && `\n${attention}`}`
}

/** `2 chats and 1 message`: what was deleted in Cursor. */
export const lossText = ({ chats, messages }: { readonly chats: number; readonly messages: number }): string =>
  [chats > 0 ? countText(chats, 'chat') : '', messages > 0 ? countText(messages, 'message') : '']
    .filter((text) => text !== '')
    .join(' and ')

/** A reason without its code, which is for programs. */
export const reasonText = (reason: string): string => reason.replace(/^pending-loss: /, '')

/** Deleted messages are shown only under `deleted`, where a chat that was deleted as a whole counts once. */
const withoutDeleted = (counts: Status['counts']): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => name !== 'deleted'))

function daemonText({ version, uptimeMs }: Status, origin: Answers['origin']): string {
  if (origin === 'mirror') return `not running; version ${version} read the mirror directly`
  return `version ${version}, up for ${durationText(uptimeMs)}`
}

function progressText({ stage, done, total, etaMs }: NonNullable<Status['progress']>): string {
  const percent = total > 0 ? `${Math.floor((done / total) * 100)} %, ` : ''
  const left = typeof etaMs === 'number' ? `, about ${durationText(etaMs)} left` : ''
  const what = stage === 'indexing' ? ' messages indexed' : ' rows read'
  return `${percent}${numberText(done)} of ${numberText(total)}${what}${left}`
}

function lossesText(losses: NonNullable<Status['losses']>, screen: Screen): string {
  if (losses.lastAt === null) return 'nothing'
  return `${lossText(losses)} in Cursor, still here; last noticed ${timeText(losses.lastAt, screen)}`
}

function mirrorText({ path, bytes, ftsBytes }: Status['mirror']): string {
  return `${path} (${bytesText(bytes)}, index ${bytesText(ftsBytes)})`
}

const tallyText = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${numberText(count)} ${name}`)
    .join(', ')

/** A row for each kind of source, because Cursor makes a store for every folder that was ever opened. */
function sumSources({ sources }: Status, screen: Screen): string {
  const kinds = [...new Set(sources.map(({ kind }) => kind))]
  const rows = kinds.map((kind) => sources.filter((source) => source.kind === kind))
  return renderRows(sums, rows, screen)
}

const sums: readonly RowColumn<Status['sources']>[] = [
  { title: 'source', read: ([first]) => first?.kind ?? null },
  { title: 'stores', read: statesText },
  { title: 'rows', align: 'right', read: (ofKind) => ofKind.reduce((sum, { rows }) => sum + (rows ?? 0), 0) },
  { title: 'last read', as: 'time', read: (ofKind) => latestOf(ofKind.map(({ lastSyncAt }) => lastSyncAt ?? '')) },
]

/** ISO times have the order of their letters. */
const latestOf = (times: readonly string[]): string | null => times.toSorted().at(-1) || null

function statesText(sources: Status['sources']): string {
  const states = [...new Set(sources.map(({ state }) => state))]
  return states.map((state) => `${sources.filter((each) => each.state === state).length} ${state}`).join(', ')
}

/** The sources that cannot be read. A missing one is usual: not every version of Cursor has every store. */
function needingAttention({ sources, issues }: Status): string[] {
  const troubled = sources.filter(({ state }) => state !== 'ok' && state !== 'missing')
  const unread = Object.values(issues).reduce((sum, count) => sum + count, 0)
  return [
    ...troubled.map(({ path, state, detail }) => `${path}: ${detail ? `${state}: ${detail}` : state}`),
    ...(unread > 0 ? [`${countText(unread, 'row')} could not be read. "cursordex doctor" shows which.`] : []),
  ]
}

const renderSources = ({ sources }: Status, screen: Screen): string =>
  renderRows(
    [
      { title: 'source', read: ({ kind }) => kind },
      { title: 'state', widthMin: 8, read: ({ state, detail }) => (detail ? `${state}: ${detail}` : state) },
      { title: 'rows', align: 'right', read: ({ rows }) => rows },
      { title: 'last read', as: 'time', read: ({ lastSyncAt }) => lastSyncAt },
      { title: 'path', widthMin: 12, read: ({ path }) => path },
    ],
    sources,
    screen,
  )
