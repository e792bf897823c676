import type { Chance } from '../../helpers/cursor.ts'
import { mapStrings, readJson } from '../../helpers/cases.ts'
import type { PlantedMessage, ToolCall } from '../scenes.ts'

type Some<Item> = readonly [Item, ...Item[]]
type Tongue = 'en' | 'de' | 'zh' | 'ja' | 'ko' | 'th'

type Lists<Name extends string> = Readonly<Record<Name, Some<string>>>

interface Words extends Lists<'projects' | 'models' | 'nouns' | 'verbs' | 'folders' | 'extensions' | 'faults'> {
  /** These two by frequency. */
  readonly modes: Some<string>
  readonly tongueOfChat: Some<Tongue>
  /** Sentences about everyday work, with common words of many questions, so that a single rare word is not enough. */
  readonly tongues: Readonly<Record<Tongue, Lists<'things' | 'acts' | 'frames'>>>
  readonly snippets: Some<{ readonly language: string; readonly text: string }>
  readonly calls: Some<ToolCall>
}

export const vocabulary = readJson(import.meta.url, 'words.json') as Words

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const repeat = (count: number, make: () => string, between: string): string =>
  Array.from({ length: count }, make).join(between)

/** What `{…}` in a string of `words.json` stands for. */
const makers: Readonly<Record<string, (chance: Chance) => string>> = {
  noun: (chance) => chance.pick(vocabulary.nouns),
  Noun: (chance) => capital(chance.pick(vocabulary.nouns)),
  verb: (chance) => chance.pick(vocabulary.verbs),
  folder: (chance) => chance.pick(vocabulary.folders),
  extension: (chance) => chance.pick(vocabulary.extensions),
  camel: (chance) => fill(chance, '{verb}{Noun}{Noun}'),
  Camel: (chance) => capital(fill(chance, '{camel}')),
  snake: (chance) => fill(chance, '{verb}_{noun}_{noun}'),
  path: (chance) => fill(chance, '{folder}/{verb}-{noun}.{extension}'),
  snippet: (chance) => snippet(chance).text,
  trace: (chance) => {
    const frame = (): string => fill(chance, '\n    at {camel} ({path}:{1-400}:{1-80})')
    const frames = repeat(chance.between(2, 6), frame, '')
    return `${chance.pick(vocabulary.faults)}${frames}`
  },
  log: (chance) => {
    const line = (): string => {
      const second = fill(chance, '{10-59}')
      const subject = chance.pick([chance.hex(12), chance.uuid(), fill(chance, '{path}'), fill(chance, '{snake}')])
      return `12:${second}:07 ${chance.pick(['INFO', 'WARN', 'ERROR'])} ${fill(chance, '{noun}')} ${subject} took ${fill(chance, '{1-900}')} ms`
    }
    return repeat(chance.between(3, 12), line, '\n')
  },
}

function fill(chance: Chance, template: string): string {
  return template.replaceAll(/\{(?:(\d+)-(\d+)|(\w+))\}/g, (_, least: string, most: string, name: string) =>
    name === undefined ? String(chance.between(Number(least), Number(most))) : (makers[name]?.(chance) ?? ''),
  )
}

function snippet(chance: Chance): Words['snippets'][number] {
  const { language, text } = chance.pick(vocabulary.snippets)
  return { language, text: fill(chance, text) }
}

export function sentence(chance: Chance, tongue: Tongue): string {
  const { things, acts, frames } = vocabulary.tongues[tongue]
  const frame = chance.pick(frames)
  const picked = { thing: chance.pick(things), act: chance.pick(acts), other: chance.pick(things) }
  return frame.replaceAll(/\{(thing|act|other)\}/g, (_, name: keyof typeof picked) => picked[name])
}

const sentences = (chance: Chance, tongue: Tongue, count: number): string =>
  repeat(count, () => sentence(chance, tongue), ' ')

/** A title: a thing and a problem. */
export function heading(chance: Chance, tongue: Tongue): string {
  const { things, acts } = vocabulary.tongues[tongue]
  const space = tongue === 'en' || tongue === 'de' || tongue === 'ko' ? ' ' : ''
  return capital(`${chance.pick(things)}${space}${chance.pick(acts)}`)
}

export function tongueOf(text: string): Tongue {
  if (/\p{Script=Thai}/u.test(text)) return 'th'
  if (/\p{Script=Hangul}/u.test(text)) return 'ko'
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja'
  if (/\p{Script=Han}/u.test(text)) return 'zh'
  return /[äöüßÄÖÜ]|\b(der|die|das|ist|und)\b/.test(text) ? 'de' : 'en'
}

type Make = (chance: Chance, tongue: Tongue) => PlantedMessage

const answer = (text: string): PlantedMessage => ({ role: 'assistant', text })
const call: Make = (chance) => ({
  role: 'assistant',
  tool: mapStrings(chance.pick(vocabulary.calls), (text) => fill(chance, text)),
})

/** The frequency of each kind of message is the number of its entries here. */
const messages: Some<Make> = [
  (chance, tongue) => ({ text: sentences(chance, tongue, chance.between(1, 3)) }),
  (chance, tongue) => ({ text: sentences(chance, tongue, chance.between(1, 2)) }),
  (chance, tongue) => ({ text: `${sentence(chance, tongue)}\n\n${fill(chance, '{trace}')}` }),
  (chance, tongue) => answer(sentences(chance, tongue, chance.between(1, 5))),
  (chance, tongue) => answer(sentences(chance, tongue, chance.between(2, 4))),
  (chance, tongue) => {
    const { language, text } = snippet(chance)
    return answer(`${sentences(chance, tongue, 2)}\n\n\`\`\`${language}\n${text}\n\`\`\`\n`)
  },
  call,
  call,
  (chance) => ({ role: 'assistant', thinking: sentences(chance, 'en', chance.between(1, 4)) }),
  (chance) => {
    const { language, text } = snippet(chance)
    return { role: 'assistant', code: { language, path: fill(chance, '{path}'), text } }
  },
]

/** A message that belongs to no question. */
export function backgroundMessage(chance: Chance, tongue: Tongue): PlantedMessage {
  return chance.pick(messages)(chance, tongue)
}
