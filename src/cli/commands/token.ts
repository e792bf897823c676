import type { Command } from 'commander'
import { rotateToken } from '../../engine/data-folder.ts'
import { addExamples, addGroup } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addCommand(program: Command, session: Session): void {
  const examples = ['cursordex token rotate', 'cursordex token rotate --data-dir /srv/cursordex'] as const
  const command = addGroup(program, 'token', 'manage the token that --auth asks for', ...examples)
  const rotate = command.command('rotate').description('make a new token; the old one stops working at once')
  rotate.action(() => {
    const path = rotateToken(session.settingsOf(rotate).dataDir)
    return session.print(`There is a new token in ${path}. Programs that used the old one need it.\n`)
  })
  addExamples(rotate, ...examples)
}
