import type { Command } from 'commander'
import { addExamples } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addDemoCommand(program: Command, session: Session): void {
  const command = program
    .command('demo')
    .description('see it work without Cursor: run on a sample made for this run, which grows as an agent at work would')
  command.action(() => session.demo(command))
  addExamples(command, 'cursordex demo', 'cursordex demo --port 4871 --data-dir ./demo-data')
}
