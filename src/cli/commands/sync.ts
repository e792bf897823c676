import type { Command } from 'commander'
import { z } from 'zod'
import { durationText, numberText } from '../formats.ts'
import { addExamples, addJson } from '../options.ts'
import type { JsonOption } from '../options.ts'
import { printableJson } from '../printable.ts'
import { decodeAnswer } from '../session.ts'
import type { Session } from '../session.ts'

const syncAnswer = z.object({ changed: z.number(), added: z.number(), gone: z.number(), tookMs: z.number() })

export function addSyncCommand(program: Command, session: Session): void {
  const command = program
    .command('sync')
    .description('read what is new in Cursor’s files now, and wait until it is done')
    .option('--full', 'compare every value, not only what looks changed')
  addJson(command)
  addExamples(command, 'cursordex sync', 'cursordex sync --full --json')
  command.action(() => sync(command, session))
}

async function sync(command: Command, session: Session): Promise<void> {
  const { json, full } = command.opts<JsonOption & { readonly full?: true }>()
  await session.ask(command, async (answers) => {
    const answer = await answers.post('/api/sync', full === true ? { full } : {})
    if (json === true) return session.print(`${printableJson(answer)}\n`)
    const { changed, added, gone, tookMs } = decodeAnswer(syncAnswer, answer)
    const counts = `${numberText(added)} added, ${numberText(changed)} changed, ${numberText(gone)} gone`
    await session.print(`${counts}, in ${durationText(tookMs)}\n`)
  })
}
