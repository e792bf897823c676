import type { Command } from 'commander'
import { nearestName } from '../text/nearest-name.ts'

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
