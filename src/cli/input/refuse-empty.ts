import { UserError } from '../../model/user-error.ts'

/**
 * A variable that is not set leaves an empty value, which is never taken as if nothing, or something else, had been said.
 * @param values by the names of options and arguments, as the help has them
 * @throws UserError `empty-value`, exit code 2
 */
export function refuseEmpty(values: Readonly<Record<string, string | readonly string[] | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (![value].flat().some((word) => word?.trim() === '')) continue
    throw new UserError('empty-value', `${name} is given an empty value.`, 'Give it one, or leave it out.', {
      exitCode: 2,
    })
  }
}

/**
 * What was given as the name of a chat or an archive, as a part of a route's path. Nothing, and dots, are folded away
 * within a path: something else would be asked for.
 * @param argument as the help calls it
 * @throws UserError exit code 2
 */
export function pathPart(argument: 'chatId' | 'name', given: string): string {
  refuseEmpty({ [argument]: given })
  if (given !== '.' && given !== '..') return encodeURIComponent(given)
  throw new UserError(
    'bad-id',
    `${argument} is "${given}", which within an address means a folder.`,
    argument === 'name' ? 'List what there is with: cursordex archive list' : searchOf(given),
    { exitCode: 2 },
  )
}

const searchOf = (id: string): string => `What a chat of this id holds is found with: cursordex search --chat ${id}`
