import type { Command } from 'commander'
import { nearestName } from '../../text/nearest-name.ts'

/** For a command that only has subcommands: without one it prints its help. */
export function helpOrRefuse(command: Command): never {
  refuseExcess(command, command.args)
  return command.help()
}

/** Ends the run if the first word is not one of the subcommands. */
export function refuseExcess(command: Command, [word]: readonly string[]): void {
  const known = command.commands.map((each) => each.name())
  if (word !== undefined) refuseWord(command, 'command', word, known)
}

/** Ends the run because of an unknown word, and suggests the nearest known one. */
export function refuseWord(
  command: Command,
  kind: 'command' | 'option',
  word: string,
  known: readonly string[],
): never {
  const near = nearestName(word, known)
  const remedy = near === null ? 'See: cursordex --help' : `Did you mean ${near}?`
  return command.error(`error: unknown ${kind} '${word}'. ${remedy}`)
}
