import type { Command } from 'commander'
import { addExamples } from '../input/options.ts'
import type { Session } from '../session.ts'
import { refuseExcess } from '../input/usage.ts'

export function addServeCommand(program: Command, session: Session): void {
  const command = program
    .command('serve', { isDefault: true })
    .description('run the daemon in the foreground: mirror the chats and answer questions about them')
    .allowExcessArguments()
    .usage('[options]')
    .option('--demo', 'run on a sample Cursor made for this run, as "cursordex demo" does')
  command.action(async () => {
    // The default command is handed every word that is no command.
    refuseExcess(program, command.args)
    if (command.opts<{ readonly demo?: true }>().demo === true) await session.demo(command)
    else await session.serve(command)
  })
  addExamples(command, 'cursordex serve --port 0', 'cursordex serve --cursor-user-dir /mnt/backup/Cursor/User')
}

export function addDemoCommand(program: Command, session: Session): void {
  const command = program
    .command('demo')
    .description('see it work without Cursor: run on a sample made for this run, which grows as an agent at work would')
  command.action(() => session.demo(command))
  addExamples(command, 'cursordex demo', 'cursordex demo --port 4871 --data-dir ./demo-data')
}
