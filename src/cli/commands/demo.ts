import type { Command } from 'commander'
import { addExamples } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('demo')
  command.action(() => session.demo(command))
  addExamples(command, 'cursordex demo', 'cursordex demo --port 4871 --data-dir ./demo-data')
}
