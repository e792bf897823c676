import { Chance } from '../../helpers/cursor.ts'
import { scenes, type Ask, type PlantedMessage, type Scene } from '../scenes.ts'
import { backgroundMessage, heading, sentence, tongueOf, vocabulary } from './background.ts'
import { looked, lookFor, lookForParts, plainWords } from './sought.ts'

export interface CorpusMessage {
  readonly id: string
  /** The scene for which it was made; null for the background. */
  readonly sceneId: string | null
  readonly atMs: number
  readonly message: PlantedMessage
}

export interface CorpusChat {
  readonly id: string
  readonly title: string
  readonly project: string
  readonly model: string
  readonly mode: string
  readonly isArchived: boolean
  readonly messages: readonly CorpusMessage[]
}

/** The date of the questions. */
export const NOW_MS = Date.UTC(2026, 5, 30, 15)

const FIRST_MS = Date.UTC(2024, 6, 1, 8)
const DAY_MS = 86_400_000
const SHARED_CHATS = 240
const BACKGROUND_PER_CHAT = 11
const FILLERS_PER_OWN_CHAT = 4
/** How many messages with all words of a question but one are made, for each question with several words. */
const LACKING_PER_ASK = 5
/** How many messages with a longer name that begins like the wanted one are made. */
const LONGER_PER_ASK = 2

const kindsWithLongerNames = new Set(['identifiers', 'errors', 'paths', 'words', 'titles', 'tools'])

type Placed = Omit<CorpusMessage, 'atMs'> & { readonly sceneId: string }

/** Deterministic. Planted messages without their own chat, project or time are put among the background. */
export function makeCorpus(): readonly CorpusChat[] {
  const planted = scenes.flatMap(({ id, docs }) =>
    Object.entries(docs).map(([name, doc]): Placed => dressed(`${id}-${name}`, id, doc)),
  )
  const misses = scenes.flatMap((scene) =>
    nearMisses(scene).map((message, at): Placed => ({ id: `${scene.id}-near${at}`, sceneId: scene.id, message })),
  )
  const own = planted.filter(({ message }) => isOwn(message))
  const shared = [...planted.filter(({ message }) => !isOwn(message)), ...misses]
  return [...sharedChats(new Chance('where').shuffled(shared)), ...own.map((placed) => ownChat(placed))]
}

const isOwn = ({ title, project, at, model, mode, isArchived }: PlantedMessage): boolean =>
  [title, project, at, model, mode, isArchived].some((each) => each !== undefined)

/** Puts the text between other sentences, because real messages have more than one. */
function dressed(id: string, sceneId: string, message: PlantedMessage): Placed {
  if (message.text === undefined || message.isBare === true) return { id, sceneId, message }
  const chance = new Chance(`dress ${id}`)
  const tongue = tongueOf(message.text)
  const around = (): string[] => (chance.next() < 0.5 ? [] : [sentence(chance, tongue)])
  return { id, sceneId, message: { ...message, text: [...around(), message.text, ...around()].join('\n') } }
}

function sharedChats(placed: readonly Placed[]): CorpusChat[] {
  return Array.from({ length: SHARED_CHATS }, (_, index) => {
    const id = `shared-${index}`
    const chance = new Chance(id)
    const tongue = chance.pick(vocabulary.tongueOfChat)
    const mine = placed.filter((_each, at) => at % SHARED_CHATS === index)
    // Spread evenly over two years, so that planted messages are neither the newest nor the oldest.
    const startMs =
      FIRST_MS + Math.floor((index / SHARED_CHATS) * (NOW_MS - FIRST_MS - DAY_MS)) + chance.between(0, DAY_MS / 2)
    const background = Array.from({ length: BACKGROUND_PER_CHAT }, () => backgroundMessage(chance, tongue))
    const all = chance.shuffled([...background.map((message) => ({ id: null, sceneId: null, message })), ...mine])
    return {
      id,
      title: heading(chance, tongue),
      ...settingOf(chance),
      isArchived: chance.next() < 0.1,
      messages: all.map((each, at) => ({ ...each, id: each.id ?? `${id}-${at}`, atMs: startMs + at * 60_000 })),
    }
  })
}

function settingOf(chance: Chance): Pick<CorpusChat, 'project' | 'model' | 'mode'> {
  return {
    project: chance.pick(vocabulary.projects),
    model: chance.pick(vocabulary.models),
    mode: chance.pick(vocabulary.modes),
  }
}

function ownChat({ id, sceneId, message }: Placed): CorpusChat {
  const chance = new Chance(`own ${id}`)
  const { text = '', title, project, model, mode, isArchived = false, at } = message
  const tongue = tongueOf(`${text} ${title ?? ''}`)
  const randomMs = FIRST_MS + chance.between(0, 700) * DAY_MS
  const startMs = at === undefined ? randomMs : Date.parse(at)
  const setting = settingOf(chance)
  const fillers = Array.from({ length: FILLERS_PER_OWN_CHAT }, (_, place) => ({
    id: `${id}-filler${place}`,
    sceneId: null,
    // A second apart, so that a filler has the same day as the message that it surrounds.
    atMs: startMs + (place + 1) * 1000,
    message: backgroundMessage(chance, tongue),
  }))
  return {
    id: `own-${id}`,
    title: title ?? heading(chance, tongue),
    project: project ?? setting.project,
    model: model ?? setting.model,
    mode: mode ?? setting.mode,
    isArchived,
    messages: [{ id, sceneId, atMs: startMs, message }, ...fillers],
  }
}

/** Messages that look like answers to a scene's questions but do not match by the rules of the language. */
function nearMisses({ id, kind, asks }: Scene): PlantedMessage[] {
  const looks = asks.map(lookFor)
  const looksForParts = asks.map(lookForParts)
  const texts = asks.flatMap((ask, index) => {
    const chance = new Chance(`near ${id} ${index}`)
    const make = (count: number, one: typeof longerName): readonly string[] =>
      Array.from({ length: count }, () => one(chance, ask)).flat()
    const lacking = make(LACKING_PER_ASK, lackingOne)
    const longer = make(kindsWithLongerNames.has(kind) ? LONGER_PER_ASK : 0, longerName)
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
