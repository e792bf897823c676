import type { Command } from 'commander'
import { UserError } from '../../model/user-error.ts'
import { durationText, numberText } from '../terminal/formats.ts'
import { addExamples, addJson, type JsonOption } from '../input/options.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { reasonText } from './status.ts'
import { syncAnswer } from '../../api/http/schemas/status.ts'

export function addSyncCommand(program: Command, session: Session): void {
  const command = program.command('sync').option('--full', 'compare every value, not only rows that look changed')
  addJson(command)
  addExamples(command, 'cursordex sync', 'cursordex sync --full --json')
  command.action(() => sync(command, session))
}

async function sync(command: Command, session: Session): Promise<void> {
  const { json, full } = command.opts<JsonOption & { readonly full?: true }>()
  const askedAt = performance.now()
  await session.ask(command, async (answers) => {
    const given = await answers.post('/api/sync', full === true ? { full } : {})
    const { changed, added, gone, reasons, ...rest } = decodeAnswer(syncAnswer, given)
    // The given time lacks what came before the request: the wait for a lock or a daemon, and the first reading.
    const tookMs = Math.max(rest.tookMs, Math.round(performance.now() - askedAt))
    const answer = { ...(given as object), tookMs }
    const counts = `${numberText(added)} added, ${numberText(changed)} changed, ${numberText(gone)} deleted`
    await session.print(json === true ? `${printableJson(answer)}\n` : `${counts}, in ${durationText(tookMs)}\n`)
    if (reasons.length === 0) return
    const text = `The mirror differs from Cursor: ${reasons.map(reasonText).join('; ').replace(/\.$/, '')}.`
    throw new UserError('unread', text, 'Busy files are read as soon as possible. See: cursordex status')
  })
}
