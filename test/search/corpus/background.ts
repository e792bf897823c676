import type { Chance } from '../../../src/sample/chance.ts'
import { sentences, type Tongue } from './fillers.ts'
import { camelName, filePath, log, snippet, trace } from './machine-text.ts'
import { answer, code, failedTool, thought, tool, type PlantedMessage } from './planted.ts'

type Make = (chance: Chance, tongue: Tongue) => PlantedMessage

const calls: readonly [Make, ...Make[]] = [
  (chance) => tool('read_file', { relativeWorkspacePath: filePath(chance) }, { contents: snippet(chance).text }),
  (chance) => tool('run_terminal_cmd', { command: `npm run ${camelName(chance)}` }, { output: log(chance) }),
  (chance) =>
    tool('grep_search', { query: camelName(chance) }, { hits: [`${filePath(chance)}: ${snippet(chance).text}`] }),
  (chance) => failedTool('run_terminal_cmd', { command: `pytest ${filePath(chance)}` }, trace(chance)),
  (chance) =>
    tool('edit_file', { relativeWorkspacePath: filePath(chance), instructions: `Rename ${camelName(chance)}.` }, {}),
]

/** The frequency of each kind of message is the number of its entries here. */
const makers: readonly [Make, ...Make[]] = [
  (chance, tongue) => ({ text: sentences(chance, tongue, chance.between(1, 3)) }),
  (chance, tongue) => ({ text: sentences(chance, tongue, chance.between(1, 2)) }),
  (chance, tongue) => ({ text: `${sentences(chance, tongue, 1)}\n\n${trace(chance)}` }),
  (chance, tongue) => answer(sentences(chance, tongue, chance.between(1, 5))),
  (chance, tongue) => answer(sentences(chance, tongue, chance.between(2, 4))),
  (chance, tongue) => {
    const { language, text } = snippet(chance)
    return answer(`${sentences(chance, tongue, 2)}\n\n\`\`\`${language}\n${text}\n\`\`\`\n`)
  },
  (chance) => chance.pick(calls)(chance, 'en'),
  (chance) => chance.pick(calls)(chance, 'en'),
  (chance) => thought(sentences(chance, 'en', chance.between(1, 4))),
  (chance) => {
    const { language, text } = snippet(chance)
    return code(language, filePath(chance), text)
  },
]

/** A message that belongs to no question. */
export function backgroundMessage(chance: Chance, tongue: Tongue): PlantedMessage {
  return chance.pick(makers)(chance, tongue)
}
