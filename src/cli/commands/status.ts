import type { Command } from 'commander'
import { addExamples, addJson, type JsonOption } from '../input/options.ts'
import { printableJson, printableLine } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import type { Answers } from '../client/answers.ts'
import { bytesText, countText, durationText, localTime, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderTable } from '../terminal/table.ts'
import { statusAnswer, type Status } from '../../api/http/schemas/status.ts'

export function addStatusCommand(program: Command, session: Session): void {
  const command = program
    .command('status')
    .description('show what is mirrored, from where, and whether there are problems')
  addJson(command)
  addExamples(command, 'cursordex status', 'cursordex status --json')
  command.action(() => showStatus(command, session))
}

async function showStatus(command: Command, session: Session): Promise<void> {
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/status', new URLSearchParams())
    if (command.opts<JsonOption>().json === true) return session.print(`${printableJson(answer)}\n`)
    await session.print(renderStatus(decodeAnswer(statusAnswer, answer), answers.origin, session.screen))
  })
}

export function renderStatus(status: Status, origin: Answers['origin'], screen: Screen): string {
  const lines: readonly (readonly [label: string, text: string] | null)[] = [
    ['state', [status.state, ...status.reasons.map(reasonText)].join('; ')],
    ['daemon', daemonText(status, origin)],
    status.progress === null ? null : ['progress', progressText(status.progress)],
    ['mirrored', tallyText(withoutDeleted(status.counts))],
    status.losses ? ['deleted', lossText(status.losses, screen.timeZone)] : null,
    ['read', tallyText(status.coverage)],
    Object.keys(status.issues).length === 0 ? null : ['issues', tallyText(status.issues)],
    ['mirror', mirrorText(status.mirror)],
    typeof status.lagMs === 'number' ? ['delay', durationText(status.lagMs)] : null,
    status.estimation ? ['tokens', estimationText(status.estimation)] : null,
  ]
  const block = lines
    .filter((line) => line !== null)
    .map(([label, text]) => `${screen.colours.dim(label.padEnd(10))} ${printableLine(text)}\n`)
    .join('')
  return `${block}\n${renderSources(status, screen)}`
}

/** A reason without its code, which is for programs. */
export const reasonText = (reason: string): string => reason.replace(/^pending-loss: /, '')

/** Deleted messages are shown only under `deleted`, where a chat that was deleted as a whole counts once. */
const withoutDeleted = (counts: Status['counts']): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => name !== 'deleted'))

function estimationText({ state, left }: NonNullable<Status['estimation']>): string {
  if (state === 'off') return 'not estimated (tokens.estimate is false)'
  if (state === 'failed') return 'not estimated until the next start, because it failed repeatedly; see the log'
  if (state === 'done') return 'all messages are counted or estimated'
  const what = left === null ? '' : `, ${countText(left, 'message')} left`
  return `estimating: ${state}${what}`
}

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

function lossText({ messages, chats, lastAt }: NonNullable<Status['losses']>, timeZone: string): string {
  if (lastAt === null) return 'nothing'
  const what = [chats > 0 ? countText(chats, 'chat') : '', messages > 0 ? countText(messages, 'message') : '']
  return `${what.filter((text) => text !== '').join(' and ')} in Cursor, still here; last noticed ${localTime(lastAt, timeZone)}`
}

function mirrorText({ path, bytes, ftsBytes }: Status['mirror']): string {
  const index = typeof ftsBytes === 'number' ? `, index ${bytesText(ftsBytes)}` : ''
  return `${path} (${bytesText(bytes)}${index})`
}

const tallyText = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${numberText(count)} ${name}`)
    .join(', ')

function renderSources({ sources }: Status, screen: Screen): string {
  if (sources.length === 0) return 'No Cursor was found yet.\n'
  const columns = [
    { title: 'source' },
    { title: 'state', widthMin: 8 },
    { title: 'rows', align: 'right' as const },
    { title: 'last read' },
    { title: 'path', widthMin: 12 },
  ]
  const rows = sources.map(({ kind, path, state, detail, lastSyncAt, rows: count }) => [
    kind,
    detail === null || detail === '' ? state : `${state}: ${detail}`,
    count === null ? '-' : numberText(count),
    localTime(lastSyncAt, screen.timeZone),
    path,
  ])
  return renderTable(columns, rows, screen)
}
