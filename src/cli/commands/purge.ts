import { isUtf8 } from 'node:buffer'
import { Option, type Command } from 'commander'
import type { PurgeReport } from '../../api/answers/archives.ts'
import { UserError } from '../../model/user-error.ts'
import { printableLine } from '../../text/printable.ts'
import { addExamples, addRepeatable, inOwnZone, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { countText, numberText } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program
    .command('purge')
    .description(
      'remove messages for good from the mirror, its index and its archives; shows first what it would remove',
    )
  addRepeatable(command, '--chat <id>', 'this chat with its subagents')
  addRepeatable(command, '--project <project>', 'the chats of this project (name, path or id)')
  command
    .option('--before <date>', 'messages sent before this date or time')
    .option('--tz <zone>', 'time zone of a bare date, such as Europe/Berlin')
    .option('--match', 'messages that contain the text on standard input, in upper or lower case')
    .option('--yes', 'do it; without this, nothing is changed')
    .addOption(
      // With the others, users would think that the purge was done.
      new Option('--accept-lost-bars', 'read Cursor again although user.db is lost').conflicts(
        'chat project before tz match yes'.split(' '),
      ),
    )
  const another = 'cursordex purge --match --yes < text-to-remove'
  addExamples(command, 'cursordex purge --project shop --before 2025-01-01', another)
  command.action(() => purge(command, session))
}

async function purge(command: Command, session: Session): Promise<void> {
  const { acceptLostBars, yes, match, chat, project, before, tz } = command.opts<Options>()
  if (acceptLostBars === true) {
    return session.ask(command, async (answers) => {
      const answer = await answers.post('/api/purge/accept-lost-bars', { body: {} })
      await session.printAnswer(command, answer, () => 'Cursor is read again, without the bars.\n')
    })
  }
  if (chat === undefined && project === undefined && before === undefined && match === undefined) {
    const hint = 'Name it with --chat, --project, --before or --match; see cursordex purge --help.'
    throw new UserError('nothing-named', 'Nothing to purge is named.', hint, { exitCode: 2 })
  }
  const body = {
    chats: chat && [...chat],
    projects: project && [...project],
    before,
    tz: inOwnZone({ tz }, session.screen, before !== undefined).tz,
    match: match === true ? await readMatch(session.world.stdin) : undefined,
    dryRun: yes !== true,
  }
  await session.ask(command, async (answers) => {
    const report = await answers.post('/api/purge', { body })
    await session.printAnswer(command, report, (done) => renderPurge(done, session.screen))
    const { found, unread, unknownChats } = report
    if (unread.length > 0 || (found ?? []).length > 0) {
      const text =
        'What is listed above contains the purged text, or could not be read and may contain something of it.'
      const remedy = 'Make it readable, or remove it. If Cursor has a project or folder of that name, remove it there.'
      throw new UserError('purge-left', text, `${remedy} Then purge again.`)
    }
    if (unknownChats.length === 0) return
    const hint = 'A purge needs the whole id, so that it removes nothing else. See it with: cursordex chats --json'
    throw new UserError('chat-not-found', `No chat has the id ${unknownChats.join(', ')}.`, hint)
  })
}

/** A larger input was piped by mistake. */
const OCTETS_MAX = 1024 * 1024

/**
 * Reads the text to look for from standard input. In a command line, shells would save it and every user of the machine
 * could read it. A final line feed and an initial byte order mark are not part of the text.
 * @throws UserError `no-match` if the input is empty, too large or not UTF-8: it would be found nowhere and reported as gone
 */
async function readMatch(stdin: Session['world']['stdin']): Promise<string> {
  let bytes = Buffer.alloc(0)
  for await (const piece of stdin) {
    bytes = Buffer.concat([bytes, Buffer.from(piece)])
    if (bytes.length > OCTETS_MAX) break
  }
  const match = new TextDecoder().decode(bytes).replace(/\r?\n$/, '')
  // UTF-16 can look like UTF-8 with zero bytes.
  const isText = isUtf8(bytes) && !bytes.includes(0) && bytes.length <= OCTETS_MAX
  if (isText && match.trim() !== '') return match
  const text = 'Standard input is empty, is not UTF-8, or is larger than 1 MB.'
  const hint = 'Pipe the text in, for example: cursordex purge --match < text-to-remove'
  throw new UserError('no-match', text, hint, { exitCode: 2 })
}

const columns: readonly RowColumn<PurgeReport['chats'][number]>[] = [
  { title: 'chat', read: ({ id }) => id },
  { title: 'goes', read: ({ isWhole }) => (isWhole ? 'whole' : 'in part') },
  { title: 'messages', read: ({ messages }) => messages },
  { title: 'title', read: ({ title }) => title },
]

function renderPurge(answer: PurgeReport, screen: Screen): string {
  const { dryRun, chats, chatCount, messages, archived, unread, found, otherMachines } = answer
  const gone = `${countText(messages, 'message')} of ${countText(chatCount, 'chat')}`
  const lines = [
    dryRun ? `Would remove ${gone}.` : `Removed ${gone}, and rewrote ${countText(archived, 'archived chat')}.`,
    'What Cursor itself has of this, it keeps.',
    ...otherMachines.map((name) => `The machine ${name} has such a chat too, until it is purged there.`),
    ...(found === null ? [] : [`Searched all files for the text: ${numberText(found.length)} found.`]),
    ...(found ?? []).map((file) => `The text is in ${file}.`),
    ...unread.map((file) => `Cannot be read: ${file}.`),
    ...(dryRun ? ['Nothing was changed. To do it, add --yes.'] : []),
  ]
  return (dryRun ? renderRows(columns, chats, screen) : '') + lines.map((line) => `${printableLine(line)}\n`).join('')
}
