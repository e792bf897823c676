import type { Command } from 'commander'
import { addExamples, addJson } from '../input/options.ts'
import type { JsonOption } from '../input/options.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer } from '../session.ts'
import type { Session } from '../session.ts'
import { renderStatus, statusAnswer } from './status-text.ts'

export function addStatusCommand(program: Command, session: Session): void {
  const command = program.command('status').description('say what is mirrored, from where, and whether all is well')
  addJson(command)
  addExamples(command, 'cursordex status', 'cursordex status --json')
  command.action(() => status(command, session))
}

async function status(command: Command, session: Session): Promise<void> {
  await session.ask(command, async (answers) => {
    const answer = await answers.get('/api/status', new URLSearchParams())
    if (command.opts<JsonOption>().json === true) return session.print(`${printableJson(answer)}\n`)
    await session.print(renderStatus(decodeAnswer(statusAnswer, answer), answers.origin, session.screen))
  })
}
