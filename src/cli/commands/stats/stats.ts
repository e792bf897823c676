import { Option, type Command } from 'commander'
import { bucketUnits } from '../../../api/buckets.ts'
import {
  addDates,
  addExamples,
  addJson,
  addRepeatable,
  MACHINE,
  queryOf,
  type DateOptions,
  type JsonOption,
  inOwnZone,
} from '../../input/options.ts'
import { printableJson } from '../../../text/printable.ts'
import { countText, undatedText } from '../../terminal/formats.ts'
import { noteUnknown } from '../../input/note-unknown.ts'
import { decodeAnswer, type Session } from '../../session.ts'
import { isOfRange, renderStats, type StatsView } from './stats-text.ts'
import { statsAnswer } from '../../../api/http/schemas/stats.ts'

interface StatsOptions extends JsonOption, DateOptions, StatsView {
  readonly project?: readonly string[]
  readonly machine?: readonly string[]
  readonly bucket?: string
}

export function addStatsCommand(program: Command, session: Session): void {
  const command = program.command('stats')
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  addRepeatable(command, '--machine <machine>', MACHINE)
  addDates(command)
  command.addOption(new Option('--bucket <unit>', 'unit of time; by default day').choices([...bucketUnits]))
  command
    .option('--compact', 'on a terminal, only the table')
    .option('--notes', 'on a terminal, also how many messages have no certain time')
  addJson(command)
  addExamples(
    command,
    'cursordex stats --from 2026-01-01 --bucket week',
    'cursordex stats --project shop --tz Europe/Berlin --json',
  )
  command.action(() => stats(command, session))
}

async function stats(command: Command, session: Session): Promise<void> {
  const { json, compact, notes, ...filters } = command.opts<StatsOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/stats', queryOf({ ...inOwnZone(filters, session.screen, true) }))
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const decoded = decodeAnswer(statsAnswer, answer)
    if (decoded.uncounted.chats > 0) {
      await session.note(
        `${countText(decoded.uncounted.chats, 'chat')} not counted yet. Run the command again in a moment.\n`,
      )
    }
    const { messages } = decoded.undated
    const leftOut = messages > 0 && isOfRange(decoded) ? undatedText(messages) : ''
    if (decoded.totals.messages === 0) {
      await session.note(`No messages.\n${leftOut}`)
      return noteUnknown(filters, answers, session)
    }
    await session.print(renderStats(decoded, session.screen, { compact, notes }))
    // Otherwise the totals name them.
    if (compact === true && session.screen.width !== null) await session.note(leftOut)
  })
}
