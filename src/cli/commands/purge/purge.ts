import { Option } from 'commander'
import type { Command } from 'commander'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { addExamples, addJson, addRepeatable, queryOf } from '../../input/options.ts'
import type { JsonOption } from '../../input/options.ts'
import { printableJson, printableLine } from '../../../text/printable.ts'
import { purgeAnswer, type PurgeAnswer, purgeState, renderPurge, renderState } from './purge-text.ts'
import { readMatch } from '../../input/read-match.ts'
import { decodeAnswer } from '../../session.ts'
import type { Session } from '../../session.ts'
import { refuseEmpty } from '../../input/refuse-empty.ts'
import { inOwnZone } from '../../input/options.ts'

interface PurgeOptions extends JsonOption {
  readonly chat?: readonly string[]
  readonly project?: readonly string[]
  readonly before?: string
  readonly tz?: string
  readonly match?: true
  readonly yes?: true
  readonly list?: true
}

const SAYS_WHAT_GOES = ['chat', 'project', 'before', 'tz', 'match', 'yes']

export function addPurgeCommand(program: Command, session: Session): void {
  const command = program
    .command('purge')
    .description('remove messages for good: from the mirror, its index and its archives; tells what would go first')
  addRepeatable(command, '--chat <id>', 'this chat, whole, and the subagents that it called')
  addRepeatable(command, '--project <project>', 'the chats of this project: its name, path or id')
  command
    .option('--before <date>', 'what was said before this date or time')
    .option('--tz <zone>', 'time zone of a bare date, such as Europe/Berlin')
    .option('--match', 'messages that hold the text on standard input, whatever the case of its letters')
    .option('--yes', 'do it; without this nothing is changed')
    // Beside it nothing would be done, and be taken for done.
    .addOption(new Option('--list', 'tell how much is kept from coming in again').conflicts(SAYS_WHAT_GOES))
  addJson(command)
  addExamples(
    command,
    'cursordex purge --project shop --before 2025-01-01',
    'cursordex purge --match --yes < text-to-remove',
  )
  command.action(() => purge(command, session))
}

async function purge(command: Command, session: Session): Promise<void> {
  const { json, list, yes, match, chat, project, before, tz } = command.opts<PurgeOptions>()
  // A condition fewer removes more: none is dropped.
  refuseEmpty({ '--chat': chat, '--project': project, '--before': before, '--tz': tz })
  if (list === true) return tellState(command, session)
  if (chat === undefined && project === undefined && before === undefined && match === undefined) {
    throw new UserError(
      'nothing-named',
      'Nothing is named that should go.',
      'Name it with --chat, --project, --before or --match; see cursordex purge --help.',
      { exitCode: 2 },
    )
  }
  const sought = match === true ? { match: await readMatch(session.stdin) } : {}
  const named = {
    ...(chat && { chats: chat }),
    ...(project && { projects: project }),
    ...(before !== undefined && { before }),
  }
  const zone = inOwnZone({ tz }, session.screen, before !== undefined).tz
  const body = { ...named, ...(zone !== undefined && { tz: zone }), ...sought, dryRun: yes !== true }
  await session.ask(command, async (answers) => {
    const answer = await telling(answers, session, answers.post('/api/purge', body))
    const told = decodeAnswer(purgeAnswer, answer)
    await session.print(json === true ? `${printableJson(answer)}\n` : renderPurge(told, session.screen))
    failUnlessGone(told)
  })
}

/** @throws UserError where something is left, or may be */
function failUnlessGone({ check, archives: { damaged } }: PurgeAnswer): void {
  if (check === null) return
  if (check.found.length > 0) {
    throw new UserError(
      'purge-found',
      'Something of what was purged is left, where it is told above.',
      'A name of a project or a folder is not removed while Cursor has it; purge again once it is gone there.',
    )
  }
  if (check.unread.length === 0 && damaged.length === 0) return
  throw new UserError(
    'purge-unsure',
    'What could not be looked through, as it is told above, may still hold something of what was purged.',
    'Make it readable, or remove it if nothing in it is needed, and purge again.',
  )
}

const LOOK_MS = 1000

/** Says what it is at, each time that this is something else. */
async function telling(answers: Answers, session: Session, purged: Promise<unknown>): Promise<unknown> {
  let told: string | null = null
  const look = async (): Promise<void> => {
    const { doing } = decodeAnswer(purgeState, await answers.get('/api/purge', queryOf({})))
    if (doing !== null && doing !== told) await session.note(`${printableLine(doing)}…\n`)
    told = doing
  }
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS)
  try {
    return await purged
  } finally {
    clearInterval(timer)
  }
}

async function tellState(command: Command, session: Session): Promise<void> {
  const { json } = command.opts<PurgeOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/purge', queryOf({}))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    await session.print(renderState(decodeAnswer(purgeState, answer)))
  })
}
