/**
 * Whether what is written there may have colours. [no-color.org](https://no-color.org): set and not empty is a no,
 * whatever else is said. `FORCE_COLOR` is a yes, but for 0. `CI` is not asked: a terminal is one there, too.
 */
export function wantsColours(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}
