import { Chance } from '../../../src/sample/chance.ts'
import { plainWords } from '../evaluate/plain-words.ts'
import { looked, lookFor, lookForParts } from '../evaluate/sought.ts'
import type { PlacedScene } from '../queries/index.ts'
import { sentence, tongueOf } from './fillers.ts'
import type { Ask, PlantedMessage } from './planted.ts'

/** How many messages with all words of a question but one are made, for each question with several words. */
const LACKING_PER_ASK = 5
/** How many messages with a longer name that begins like the wanted one are made. */
const LONGER_PER_ASK = 2

const kindsWithLongerNames = new Set<string>(['identifiers', 'errors', 'paths', 'words', 'titles', 'tools'])

/** Messages that look like answers to a scene's questions but do not match by the rules of the language. */
export function nearMisses({ id, kind, scene }: PlacedScene): PlantedMessage[] {
  const looks = scene.asks.map(lookFor)
  const looksForParts = scene.asks.map(lookForParts)
  const texts = scene.asks.flatMap((ask, index) => {
    const chance = new Chance(`near ${id} ${index}`)
    const lacking = Array.from({ length: LACKING_PER_ASK }, () => lackingOne(chance, ask)).flat()
    const longer = kindsWithLongerNames.has(kind)
      ? Array.from({ length: LONGER_PER_ASK }, () => longerName(chance, ask)).flat()
      : []
    return [
      ...lacking.filter((text) => !looks.some((isThere) => isThere(looked(text)))),
      ...longer.filter((text) => !looksForParts.some((isThere) => isThere(looked(text)))),
    ]
  })
  return texts.map((text) => ({ text, isBare: true }))
}

function lackingOne(chance: Chance, ask: Ask): string[] {
  const words = plainWords(ask)
  if (words.length < 2 || ask.isAny === true || ask.spelling !== undefined) return []
  const dropped = words[chance.between(0, words.length - 1)] ?? ''
  return [scattered(chance, chance.shuffled(words.filter((word) => word !== dropped)))]
}

function longerName(chance: Chance, ask: Ask): string[] {
  const word = plainWords(ask).at(-1) ?? ''
  // Only a name that continues in the same part is a different name: `userName` finds `userNameList` rightly.
  if (!/^[\w.-]+[a-z\d]$/i.test(word)) return []
  const more = /\d$/.test(word) ? String(chance.between(10, 99)) : chance.pick(['qu', 'zed', 'ix'])
  return [scattered(chance, [`${word}${more}`])]
}

/** Each word in a sentence of its own. */
function scattered(chance: Chance, words: readonly string[]): string {
  const tongue = tongueOf(words.join(' '))
  return words.map((word) => `${sentence(chance, tongue)} ${word}: ${sentence(chance, tongue)}`).join(' ')
}
