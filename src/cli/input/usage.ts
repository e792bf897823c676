import type { Command } from 'commander'
import { nearestName } from '../../text/nearest-name.ts'

/** A command that does nothing by itself: alone it tells what stands below it. */
export function helpOrRefuse(command: Command): never {
  refuseExcess(command, command.args)
  return command.help()
}

/** Ends the run over a word that is none of the commands below this one. */
export function refuseExcess(command: Command, [word]: readonly string[]): void {
  const known = command.commands.map((each) => each.name())
  if (word !== undefined) refuseWord(command, 'command', word, known)
}

/** Ends the run over a word that the program does not know, naming the one that was most likely meant. */
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

/**
 * Ends the run over an option that only the command above this one takes: as the words are read, it has taken it, and
 * nobody would miss it.
 */
export function refuseOptionsAbove(command: Command): void {
  const { parent } = command
  const given = parent?.options.find((option) => {
    const isOwn = command.options.some(({ long }) => long === option.long)
    return !isOwn && parent.getOptionValueSource(option.attributeName()) === 'cli'
  })
  if (given === undefined) return
  const name = `${parent?.name() ?? ''} ${command.name()}`
  command.error(`error: unknown option '${given.long ?? given.flags}' of '${name}'. See: cursordex ${name} --help`)
}
