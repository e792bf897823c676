import type { Command } from 'commander'
import type { Status } from '../../api/answers/status.ts'
import { UserError } from '../../model/user-error.ts'
import { printableLine } from '../../text/printable.ts'
import type { Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { bytesText, countText, durationText, numberText, timeText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows } from '../terminal/table.ts'
import { renderAttention, wrap } from '../terminal/text.ts'

export function addCommand(program: Command, session: Session, name: string): void {
  if (name === 'sync') return addSync(program, session)
  const command = program
    .command('status')
    .description('show what is mirrored, from where, and whether there are problems')
    .option('--sources', 'list every source of chats')
  session.asks(command, ['cursordex status', 'cursordex status --json'], async (answers, { sources }: Options) => {
    const hasList = sources === true || session.screen.width === null
    await session.printAnswer(command, await answers.get('/api/status'), (status) => {
      const { screen } = session
      const sections = [
        renderFacts(status, answers.daemon !== null, screen),
        hasList ? renderSources(status, screen) : '',
        renderAttention(needingAttention(status), screen),
      ]
      return sections.filter((section) => section !== '').join('\n')
    })
  })
}

const LABEL_WIDTH = 10

const STATES: Readonly<Record<Status['state'], string>> = {
  starting: 'starting',
  indexing: 'reading Cursor',
  ready: 'everything that Cursor has is searchable',
  degraded: 'works, but not everything is read',
}

function renderFacts(status: Status, isDaemon: boolean, screen: Screen): string {
  const { state, version, uptimeMs, progress, counts, losses, sources, mirror, lagMs } = status
  const { chats, messages, projects } = counts
  // ISO times have the order of their letters.
  const lastAt = sources
    .map(({ lastSyncAt }) => lastSyncAt ?? '')
    .toSorted()
    .at(-1)
  const read = countText(sources.filter((source) => source.state === 'ok').length, 'store')
  const facts: readonly (readonly [label: string, text: string] | null)[] = [
    ['state', [STATES[state], ...(progress === null ? [] : [progressText(progress)])].join(': ')],
    [
      'daemon',
      isDaemon
        ? `runs, version ${version}, for ${durationText(uptimeMs)}`
        : `does not run; this command, version ${version}, read Cursor itself`,
    ],
    ['mirrored', `${countText(messages, 'message')}, ${countText(chats, 'chat')}, ${countText(projects, 'project')}`],
    losses.lastAt === null
      ? null
      : ['deleted', `${lossText(losses)} in Cursor, still here; last noticed ${timeText(losses.lastAt, screen)}`],
    [
      'read',
      sources.length === 0 ? 'nothing: no Cursor was found yet' : `${read}, last ${timeText(lastAt ?? '', screen)}`,
    ],
    ['on disk', `${mirror.path} (${bytesText(mirror.bytes)}, ${bytesText(mirror.ftsBytes)} of it to search)`],
    typeof lagMs === 'number' ? ['delay', `${durationText(lagMs)} until a new message is found`] : null,
  ]
  return facts
    .filter((fact) => fact !== null)
    .map(([label, text]) => {
      const head = screen.colours.dim(label.padEnd(LABEL_WIDTH))
      return `${head} ${wrap(printableLine(text), LABEL_WIDTH + 1, screen)}\n`
    })
    .join('')
}

/** `2 chats and 1 message`: what was deleted in Cursor. */
export const lossText = ({ chats, messages }: { readonly chats: number; readonly messages: number }): string =>
  [chats > 0 ? countText(chats, 'chat') : '', messages > 0 ? countText(messages, 'message') : '']
    .filter((text) => text !== '')
    .join(' and ')

/** A reason without its code, which is for programs. */
export const reasonText = (reason: string): string => reason.replace(/^pending-loss: /, '')

function progressText({ stage, done, total, etaMs }: NonNullable<Status['progress']>): string {
  const percent = total > 0 ? `${Math.floor((done / total) * 100)}%, ` : ''
  const left = typeof etaMs === 'number' ? `, about ${durationText(etaMs)} left` : ''
  const what = stage === 'indexing' ? 'messages are searchable' : 'rows are read'
  return `${percent}${numberText(done)} of ${numberText(total)} ${what}${left}`
}

/** Why not everything is read. A missing source is usual: not every version of Cursor has every store. */
function needingAttention({ sources, issues, reasons }: Status): string[] {
  const troubled = sources.filter(({ state }) => state !== 'ok' && state !== 'missing')
  const told = troubled.map(({ path, state, detail }) => `${path}: ${detail ? `${state}: ${detail}` : state}`)
  const unread = Object.values(issues).reduce((sum, count) => sum + count, 0)
  return [
    ...reasons.map(reasonText),
    ...told.filter((text) => !reasons.includes(text)),
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

function addSync(program: Command, session: Session): void {
  const command = program
    .command('sync')
    .description('read changes in Cursor’s files now, and wait until that is done')
    .option('--full', 'compare every value, not only rows that look changed')
  const askedAt = performance.now()
  session.asks(command, ['cursordex sync', 'cursordex sync --full --json'], async (answers, { full }: Options) => {
    const given = await answers.post('/api/sync', { body: full === true ? { full } : {} })
    // The given time lacks what came before the request: the wait for a lock or a daemon, and the first reading.
    const outcome = { ...given, tookMs: Math.max(given.tookMs, Math.round(performance.now() - askedAt)) }
    await session.printAnswer(command, outcome, ({ added, changed, gone, tookMs }) => {
      const counts = `${numberText(added)} added, ${numberText(changed)} changed, ${numberText(gone)} deleted`
      return `${counts}, in ${durationText(tookMs)}\n`
    })
    const { reasons } = outcome
    if (reasons.length === 0) return
    const text = `The mirror differs from Cursor: ${reasons.map(reasonText).join('; ').replace(/\.$/, '')}.`
    throw new UserError('unread', text, 'Busy files are read as soon as possible. See: cursordex status')
  })
}
