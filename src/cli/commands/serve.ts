import type { Command } from 'commander'
import { addExamples, type Options, refuseExcess } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addCommand(program: Command, session: Session, name: string): void {
  if (name === 'demo') {
    const demo = program
      .command('demo')
      .description('try it without Cursor, on sample data that grows as if an agent were working')
    demo.action(() => session.demo(demo))
    addExamples(demo, 'cursordex demo', 'cursordex demo --port 4871 --data-dir ./demo-data')
    return
  }
  const command = program
    .command('serve', { isDefault: true })
    .description('run the daemon in the foreground: mirror the chats and serve the HTTP API')
    .allowExcessArguments()
    .usage('[options]')
  command.action(async () => {
    // Commander passes every unknown word to the default command.
    refuseExcess(program, command.args)
    if (command.optsWithGlobals<Options>().demo === true) await session.demo(command)
    else await session.serve(command)
  })
  addExamples(command, 'cursordex serve --port 0', 'cursordex serve --cursor-user-dir /mnt/backup/Cursor/User')
}
