import type { Command } from 'commander'
import { rotateToken } from '../../engine/data-folder.ts'
import { addExamples } from '../input/options.ts'
import type { Place, Session } from '../session.ts'

export function addCommand(program: Command, session: Session, { settingsOf }: Place): void {
  const command = program.command('token')
  const rotate = command.command('rotate').description('make a new token; the old one stops working at once')
  rotate.action(() => {
    const path = rotateToken(settingsOf(rotate).dataDir)
    return session.print(`There is a new token in ${path}. Programs that used the old one need it.\n`)
  })
  addExamples(rotate, 'cursordex token rotate', 'cursordex token rotate --data-dir /srv/cursordex')
}
