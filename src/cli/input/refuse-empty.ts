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
