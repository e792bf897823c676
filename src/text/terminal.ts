type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether what is written there may have colours. [no-color.org](https://no-color.org): set and not empty is a no,
 * whatever else is said. `FORCE_COLOR` is a yes, but for 0. `CI` is not asked: a terminal is one there, too.
 */
export function wantsColours(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}

/** Wipes the line on which the cursor stands; nothing where that is no terminal, or one that knows no such orders. */
export const lineWipe = (isTerminal: boolean, env: Environment): string =>
  isTerminal && env['TERM'] !== 'dumb' ? '\r\u001b[K' : ''
