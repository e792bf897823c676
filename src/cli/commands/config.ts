import type { Command } from 'commander'
import { shownUrl } from '../../engine/hub/sharing.ts'
import { originOf } from '../../settings.ts'
import { addExamples, inputOf } from '../input/options.ts'
import type { Session } from '../session.ts'
import { renderRows, type RowColumn } from '../terminal/table.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('config').description('show each setting, and where it comes from')
  addExamples(command, 'cursordex config', 'cursordex config --json')
  command.action(async () => {
    const settings = session.settingsOf(command)
    const { url } = settings.hub
    // The address of a hub may contain a password.
    const shown = { ...settings, hub: { ...settings.hub, url: url === null ? null : shownUrl(url) } }
    const origin = originOf(inputOf(session.world, command))
    // What is no setting itself says how the others were read.
    const leaves = leavesOf(shown, []).filter(([path]) => !/Explicit$|^configFile$/.test(path.at(-1) ?? ''))
    const rows = leaves.map(([path, value]) => ({ setting: path.join('.'), value, from: origin(path) }))
    await session.printAnswer(command, { settings: rows }, () => {
      const columns: readonly RowColumn<(typeof rows)[number]>[] = [
        { title: 'setting', read: ({ setting }) => setting },
        {
          title: 'value',
          widthMin: 12,
          read: ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)),
        },
        { title: 'from', widthMin: 7, read: ({ from }) => from },
      ]
      return renderRows(columns, rows, session.screen)
    })
    await session.note(`The config file is ${settings.configFile}\n`)
  })
}

const leavesOf = (tree: object, above: readonly string[]): (readonly [path: readonly string[], value: unknown])[] =>
  Object.entries(tree).flatMap(([key, value]: [string, unknown]) => {
    const path = [...above, key]
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leavesOf(value, path)
      : [[path, value]]
  })
