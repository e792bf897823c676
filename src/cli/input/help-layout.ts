import type { Command, HelpConfiguration } from 'commander'
import { SETTING_FLAGS } from './options.ts'

const SETTINGS = 'settings'

/** The flags for settings are only listed where they are the subject. Elsewhere they would hide a command's own options. */
const listsSettings = (command: Command): boolean => ['serve', 'demo', SETTINGS].includes(command.name())

export const helpLayout: HelpConfiguration = {
  showGlobalOptions: true,
  visibleGlobalOptions: (command) =>
    listsSettings(command)
      ? (command.parent?.options ?? []).filter(({ helpGroupHeading }) => helpGroupHeading === SETTING_FLAGS)
      : [],
  formatItemList: (heading, items, helper) => {
    // Commander adds the flags to the program's own options, and always asks for global options, even if there are none.
    if (heading === SETTING_FLAGS) return []
    if (heading !== 'Global Options:') return items.length === 0 ? [] : [helper.styleTitle(heading), ...items, '']
    return items.length === 0
      ? [`Common options: cursordex help ${SETTINGS}`, '']
      : [helper.styleTitle('Common options, each also a setting:'), ...items, '']
  },
}

/** `cursordex help settings`. */
export function addSettingsHelp(program: Command): void {
  const command = program
    .command(SETTINGS, { hidden: true })
    .description('Options of every command. They may also be in the config file, or in the environment.')
  command.configureHelp({ ...command.configureHelp(), commandUsage: () => 'cursordex <command> [common options]' })
  command.action(() => command.help())
}
