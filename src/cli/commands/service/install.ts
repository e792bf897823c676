import type { Command } from 'commander'
import type { Flags } from '../../../settings.ts'
import type { Place, Session } from '../../session.ts'
import { launchOf } from './launch.ts'
import { installedText, lineOf, refuseForeign, runAll, untilAnswered, writeInstalled } from './manager.ts'
import { managerOf } from './manager-of.ts'

interface InstallOptions extends Flags {
  readonly print?: true
}

/** Writes the file, and starts the service. A second run updates the file. With `--print` nothing is changed. */
export async function install(command: Command, session: Session, { settingsOf }: Place): Promise<void> {
  const { surroundings } = session
  const settings = settingsOf(command)
  const options = command.optsWithGlobals<InstallOptions>()
  const manager = managerOf(surroundings)
  const text = manager.render(launchOf(settings, options, surroundings))
  if (options.print === true) {
    await session.note(`This would be written to ${manager.file}:\n\n`)
    return session.print(text)
  }
  const isAvailable = manager.isAvailable()
  const daemon = isAvailable ? await refuseForeign(settings.dataDir, manager) : null
  // Asked before the file is written, because systemd reads a new file at the first question about it.
  const isUpdate = isAvailable && manager.state() !== null
  const former = installedText(manager)
  if (former !== text) writeInstalled(manager, text)
  await session.print(`${outcomeOf(former, text)}: ${manager.file}\n`)
  if (!isAvailable) {
    return session.print(
      `No ${manager.name} answers here, so nothing was started. Run later: ${lineOf(manager.enable)}\n`,
    )
  }
  const isRunning = daemon !== null && former === text
  if (!isRunning) runAll(isUpdate ? manager.update : manager.enable, surroundings)
  const running = isRunning ? daemon : await untilAnswered(settings.dataDir, manager, daemon?.pid ?? null)
  if (running === null) await session.print('It was started and does not answer yet. See: cursordex service logs\n')
  else await session.print(`It runs at ${running.url}${isRunning ? '' : ', and starts at each login'}.\n`)
  const hint = manager.hint()
  if (hint !== null) await session.print(`${hint}\n`)
}

function outcomeOf(former: string | null, text: string): string {
  if (former === null) return 'Installed'
  return former === text ? 'Already installed, unchanged' : 'Already installed, updated'
}
