import type { Command } from 'commander'
import { UserError } from '../../model/user-error.ts'
import { durationText, numberText } from '../terminal/formats.ts'
import { addExamples, addJson, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { reasonText } from './status.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('sync').option('--full', 'compare every value, not only rows that look changed')
  addJson(command)
  addExamples(command, 'cursordex sync', 'cursordex sync --full --json')
  command.action(() => sync(command, session))
}

async function sync(command: Command, session: Session): Promise<void> {
  const { full } = command.opts<Options>()
  const askedAt = performance.now()
  await session.ask(command, async (answers) => {
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
