import { UserError } from '../../model/user-error.ts'

/**
 * Refuses empty values, which an unset variable of a shell leaves. They must not count as a missing option.
 * @param values by the names of options and arguments, as in the help
 * @throws UserError `empty-value`, exit code 2
 */
export function refuseEmpty(values: Readonly<Record<string, string | readonly string[] | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (![value].flat().some((word) => word?.trim() === '')) continue
    const hint = 'Give it a value, or leave it out.'
    throw new UserError('empty-value', `${name} has an empty value.`, hint, { exitCode: 2 })
  }
}

/**
 * The id of a chat or the name of an archive as a part of a path. HTTP clients remove empty parts, `.` and `..` from a
 * path, so they would request something else.
 * @param argument its name in the help
 * @throws UserError exit code 2
 */
export function pathPart(argument: 'chatId' | 'name', given: string): string {
  refuseEmpty({ [argument]: given })
  if (given !== '.' && given !== '..') return encodeURIComponent(given)
  const text = `${argument} is "${given}", which means a folder within an address.`
  const search = `Find the messages of a chat with this id with: cursordex search --chat ${given}`
  const hint = argument === 'name' ? 'List the archives with: cursordex archive list' : search
  throw new UserError('bad-id', text, hint, { exitCode: 2 })
}
