import { Option, type Command } from 'commander'
import { bucketUnits } from '../../../api/buckets.ts'
import {
  addDates,
  addExamples,
  addFilters,
  addJson,
  inOwnZone,
  queryOf,
  type ReadingOptions,
} from '../../input/options.ts'
import { countText, undatedText } from '../../terminal/formats.ts'
import { noteUnknown } from '../list.ts'
import { readAnswer, type Session } from '../../session.ts'
import { isOfRange, renderStats } from './stats-text.ts'
import { statsAnswer } from '../../../api/http/schemas/stats.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('stats')
  addDates(addFilters(command, 'project', 'machine'))
  command.addOption(new Option('--bucket <unit>', 'unit of time; by default day').choices([...bucketUnits]))
  addJson(command)
  addExamples(
    command,
    'cursordex stats --from 2026-01-01 --bucket week',
    'cursordex stats --project shop --tz Europe/Berlin --json',
  )
  command.action(() => stats(command, session))
}

async function stats(command: Command, session: Session): Promise<void> {
  const { json: _, ...filters } = command.opts<ReadingOptions>()
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/stats', queryOf({ ...inOwnZone(filters, session.screen, true) }))
    const decoded = await readAnswer(statsAnswer, answer, command, session)
    if (decoded === null) return
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
    await session.print(renderStats(decoded, session.screen))
  })
}
