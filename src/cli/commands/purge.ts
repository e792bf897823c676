import { Option, type Command } from 'commander'
import { purgeAnswer, purgeStateAnswer, type PurgeReport, type PurgeState } from '../../api/http/schemas/purge.ts'
import { UserError } from '../../model/user-error.ts'
import { printableLine } from '../../text/printable.ts'
import { addExamples, addJson, addRepeatable, inOwnZone, queryOf } from '../input/options.ts'
import { readMatch } from '../input/read-match.ts'
import { refuseEmpty } from '../input/refuse-empty.ts'
import { decodeAnswer, printAnswer, type Session } from '../session.ts'
import { bytesText, countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderTable } from '../terminal/table.ts'
import { withProgress } from './with-progress.ts'

interface PurgeOptions {
  readonly chat?: readonly string[]
  readonly project?: readonly string[]
  readonly before?: string
  readonly tz?: string
  readonly match?: true
  readonly yes?: true
  readonly list?: true
  readonly acceptLostBars?: true
}

const SCOPE_OPTIONS = ['chat', 'project', 'before', 'tz', 'match', 'yes']

export function addCommand(program: Command, session: Session): void {
  const command = program.command('purge')
  addRepeatable(command, '--chat <id>', 'this chat with its subagents')
  addRepeatable(command, '--project <project>', 'the chats of this project (name, path or id)')
  command
    .option('--before <date>', 'messages sent before this date or time')
    .option('--tz <zone>', 'time zone of a bare date, such as Europe/Berlin')
    .option('--match', 'messages that contain the text on standard input, in upper or lower case')
    .option('--yes', 'do it; without this, nothing is changed')
    // With these options, users would think that the purge was done.
    .addOption(new Option('--list', 'show how much is kept out').conflicts(SCOPE_OPTIONS))
    .addOption(
      new Option('--accept-lost-bars', 'read Cursor again although user.db is lost').conflicts([
        ...SCOPE_OPTIONS,
        'list',
      ]),
    )
  addJson(command)
  addExamples(
    command,
    'cursordex purge --project shop --before 2025-01-01',
    'cursordex purge --match --yes < text-to-remove',
  )
  command.action(() => purge(command, session))
}

async function purge(command: Command, session: Session): Promise<void> {
  const { list, acceptLostBars, yes, match, chat, project, before, tz } = command.opts<PurgeOptions>()
  // Ignoring an empty condition would remove more than was meant.
  refuseEmpty({ '--chat': chat, '--project': project, '--before': before, '--tz': tz })
  if (list === true || acceptLostBars === true) {
    return session.ask(command, async (answers) => {
      const answer = await (acceptLostBars === true
        ? answers.post('/api/purge/accept-lost-bars', {})
        : answers.get('/api/purge', queryOf({})))
      await printAnswer(purgeStateAnswer, answer, renderState, command, session)
    })
  }
  if (chat === undefined && project === undefined && before === undefined && match === undefined) {
    throw new UserError(
      'nothing-named',
      'Nothing to purge is named.',
      'Name it with --chat, --project, --before or --match; see cursordex purge --help.',
      { exitCode: 2 },
    )
  }
  const zone = inOwnZone({ tz }, session.screen, before !== undefined).tz
  const body = {
    ...(chat && { chats: chat }),
    ...(project && { projects: project }),
    ...(before !== undefined && { before }),
    ...(zone !== undefined && { tz: zone }),
    ...(match === true && { match: await readMatch(session.stdin) }),
    dryRun: yes !== true,
  }
  await session.ask(command, async (answers) => {
    const answer = await withProgress(session, answers.post('/api/purge', body), async () => {
      const { doing } = decodeAnswer(purgeStateAnswer, await answers.get('/api/purge', queryOf({})))
      if (doing !== null) await session.progress.show(printableLine(doing))
    })
    const textOf = (report: PurgeReport): string => renderPurge(report, session.screen)
    failUnlessGone(await printAnswer(purgeAnswer, answer, textOf, command, session))
  })
}

/** @throws UserError if something is left, or may be */
function failUnlessGone({ dryRun, check, archives: { damaged } }: PurgeReport): void {
  if (dryRun) return
  if (check !== null && check.found.length > 0) {
    throw new UserError(
      'purge-found',
      'Some files still contain the purged text; they are listed above.',
      'Cursor may still have a project or folder of that name; remove it there and purge again.',
    )
  }
  if (damaged.length === 0 && (check === null || check.unread.length === 0)) return
  throw new UserError(
    'purge-unsure',
    'What could not be read, as listed above, may still contain something of what was purged.',
    'Make it readable, or remove it if you do not need it, and purge again.',
  )
}

const CHATS_SHOWN = 20
const columns = [{ title: 'chat' }, { title: 'goes' }, { title: 'messages' }, { title: 'title' }]

function renderPurge(answer: PurgeReport, screen: Screen): string {
  const text = linesOf(answer)
    .map((line) => `${printableLine(line)}\n`)
    .join('')
  const shown = answer.dryRun ? answer.chats.slice(0, CHATS_SHOWN) : []
  if (shown.length === 0) return text
  const cells = shown.map((chat) => [
    chat.id,
    chat.isWhole ? 'whole' : 'in part',
    numberText(chat.messages),
    chat.title,
  ])
  const more = answer.chatCount - shown.length
  return `${renderTable(columns, cells, screen)}${more > 0 ? `and ${countText(more, 'more chat')}\n` : ''}${text}`
}

function linesOf(answer: PurgeReport): readonly string[] {
  const { dryRun, facts, archives, left, check } = answer
  const did = dryRun ? 'Would remove' : 'Removed'
  const { objects, runs, damaged } = archives
  const touched = `${countText(objects, 'archived chat')} (${countText(archives.messages, 'message')}) in ${countText(runs.length, 'archive')}`
  return [
    ...answer.unknownChats.map((id) => `No chat has the id ${id}.`),
    `${did} ${countText(answer.messages, 'message')} of ${countText(answer.chatCount, 'chat')}; Cursor still has ${numberText(answer.inCursor)} of them, and keeps them.`,
    ...(facts === 0 ? [] : [`${did} the text from ${countText(facts, 'name, summary, todo or path')} of chats.`]),
    ...answer.otherMachines.map(
      (name) => `The machine ${name} has such a chat too, and keeps it until it is purged there.`,
    ),
    ...answer.setAside.map((file) => `${did} the damaged mirror ${file}, which was set aside.`),
    ...(objects === 0 ? [] : [`${dryRun ? 'Would rewrite' : 'Rewrote'} ${touched}.`]),
    ...damaged.map(
      ({ kind, name, why }) => `Cannot be read: ${kind === 'run' ? 'archive' : 'object'} ${name} (${why}).`,
    ),
    ...(check === null ? [] : checkLines(check, damaged.length > 0)),
    ...(dryRun ? ['Nothing was changed. To do it, add --yes.'] : left === null ? [] : [left]),
  ]
}

function checkLines(check: NonNullable<PurgeReport['check']>, isDamaged: boolean): readonly string[] {
  const { files, bytes, found, unread } = check
  const none = unread.length > 0 || isDamaged ? '0 found in what could be read' : '0 found'
  return [
    `Searched ${countText(files, 'file')} of ${bytesText(bytes)}, byte by byte: ${found.length === 0 ? none : `found in ${countText(found.length, 'file')}`}.`,
    ...found.map(({ file, times, at }) => `Found ${countText(times, 'time')} in ${file}, first at byte ${at}.`),
    ...unread.map((file) => `Could not be searched: ${file}.`),
  ]
}

function renderState({ doing, tombstones, lostBars, unfinished }: PurgeState): string {
  const { chats, messages, texts } = tombstones
  const isUnfinished = unfinished.rows || unfinished.archives || unfinished.bytes
  const lines = [
    `Kept out: ${countText(chats, 'chat')}, ${countText(messages, 'message')} and ${countText(texts, 'text')}.`,
    ...(lostBars === 0 ? [] : [`Missing in user.db: ${countText(lostBars, 'bar')}. Nothing is read from Cursor.`]),
    ...(doing === null ? [] : [`Running: ${doing}.`]),
    ...(isUnfinished
      ? ['A purge was interrupted. The next start of the daemon finishes it, and so does the next purge.']
      : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
