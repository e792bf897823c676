import type { Command } from 'commander'
import { addExamples } from '../../input/options.ts'
import { helpOrRefuse } from '../../input/usage.ts'
import type { Place, Session } from '../../session.ts'
import { addForget, addGrant, addInit, addRevoke } from './own-hub.ts'
import { addPull, addPush, addStatus } from './share.ts'

export function addHubCommand(program: Command, session: Session, place: Place): void {
  const command = program.command('hub')
  addExamples(command, "cursordex hub push --project '*'", "cursordex hub pull --project '*'")
  command.allowExcessArguments().action(() => helpOrRefuse(command))
  addInit(command, session, place)
  addPush(command, session)
  addPull(command, session)
  addStatus(command, session)
  addGrant(command, session, place)
  addRevoke(command, session, place)
  addForget(command, session, place)
  addServe(command, session)
}

const ALL = ['*']

function addServe(parent: Command, session: Session): void {
  const command = parent.command('serve').description('serve what this role may read at the hub, without a Cursor')
  addExamples(command, 'cursordex hub serve --host 0.0.0.0', 'cursordex hub serve --data-dir /srv/chats --port 8080')
  command.action(() =>
    session.serve(command, (settings) => ({
      ...settings,
      cursor: { userDirs: [], userDirsExplicit: true, homes: [], homesExplicit: true },
      hub: {
        ...settings.hub,
        push: { ...settings.hub.push, projects: [] },
        pull: {
          ...settings.hub.pull,
          projects: settings.hub.pull.projects.length === 0 ? ALL : settings.hub.pull.projects,
        },
      },
    })),
  )
}
