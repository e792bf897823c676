import type { Command } from 'commander'
import { addExamples } from '../../input/options.ts'
import type { Place, Session } from '../../session.ts'
import { install } from './install.ts'
import { restart, showLogs, showStatus, uninstall } from './operate.ts'

export function addServiceCommand(program: Command, session: Session, place: Place): void {
  const command = program.command('service')
  addExamples(command, 'cursordex service install', 'cursordex service status')

  const installing = command
    .command('install')
    .description('install the service with these settings, and start it; again to update it')
    .option('--print', 'print what would be written; change nothing')
  addExamples(installing, 'cursordex service install --port 4871', 'cursordex service install --print')
  installing.action(() => install(installing, session, place))

  const removing = command.command('uninstall').description('stop the daemon and remove the service; the mirror stays')
  addExamples(removing, 'cursordex service uninstall', 'cursordex service uninstall && cursordex serve')
  removing.action(() => uninstall(removing, session, place))

  const status = command.command('status').description('show whether the service is installed and runs')
  addExamples(status, 'cursordex service status', 'cursordex status')
  status.action(() => showStatus(status, session, place))

  const restarting = command.command('restart').description('start the daemon again, for example after an upgrade')
  addExamples(restarting, 'cursordex service restart', 'npm install --global cursordex && cursordex service restart')
  restarting.action(() => restart(restarting, session, place))

  const logs = command
    .command('logs')
    .description('show the log of the daemon, and follow it until Ctrl-C')
    .option('--no-follow', 'show the last 100 lines only')
  addExamples(logs, 'cursordex service logs', 'cursordex service logs --no-follow')
  logs.action(() => showLogs(logs, session))
}
