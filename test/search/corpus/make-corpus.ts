import { Chance } from '../../../src/sample/chance.ts'
import { scenes } from '../queries/index.ts'
import { backgroundMessage } from './background.ts'
import { heading, sentence, tongueOf, type Tongue } from './fillers.ts'
import { nearMisses } from './near-misses.ts'
import { projectNames, type Planted, type PlantedMessage, type ProjectName } from './planted.ts'

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
  readonly project: ProjectName
  readonly model: string
  readonly mode: 'agent' | 'chat' | 'plan'
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

const tongues = ['en', 'en', 'en', 'en', 'en', 'de', 'zh', 'ja', 'ko', 'th'] as const
const models = ['claude-4.5-sonnet', 'gpt-5', 'gemini-2.5-pro', 'composer-1'] as const
const modes = ['agent', 'agent', 'chat'] as const

interface Placed {
  readonly id: string
  readonly sceneId: string
  readonly message: PlantedMessage
}

/** Deterministic. Planted messages without their own chat, project or time are put among the background. */
export function makeCorpus(): readonly CorpusChat[] {
  const planted = scenes.flatMap(({ id, scene }) =>
    Object.entries(scene.docs).map(([name, doc]): Placed => dressed(`${id}-${name}`, id, doc)),
  )
  const misses = scenes.flatMap((placed) =>
    nearMisses(placed).map((message, index): Placed => ({
      id: `${placed.id}-near${index}`,
      sceneId: placed.id,
      message,
    })),
  )
  const own = planted.filter(({ message }) => isOwn(message))
  const shared = [...planted.filter(({ message }) => !isOwn(message)), ...misses]
  return [...sharedChats(new Chance('where').shuffled(shared)), ...own.map((placed) => ownChat(placed))]
}

const isOwn = ({ title, project, at, model, mode, isArchived }: PlantedMessage): boolean =>
  [title, project, at, model, mode, isArchived].some((each) => each !== undefined)

/** Puts the text between other sentences, because real messages have more than one. */
function dressed(id: string, sceneId: string, doc: Planted): Placed {
  const message = typeof doc === 'string' ? { text: doc } : doc
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
    const tongue = chance.pick(tongues)
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
  return { project: chance.pick(projectNames), model: chance.pick(models), mode: chance.pick(modes) }
}

function ownChat({ id, sceneId, message }: Placed): CorpusChat {
  const chance = new Chance(`own ${id}`)
  const tongue: Tongue = tongueOf(`${message.text ?? ''} ${message.title ?? ''}`)
  const randomMs = FIRST_MS + chance.between(0, 700) * DAY_MS
  const startMs = message.at === undefined ? randomMs : Date.parse(message.at)
  const setting = settingOf(chance)
  const fillers = Array.from({ length: FILLERS_PER_OWN_CHAT }, (_, at) => ({
    id: `${id}-filler${at}`,
    sceneId: null,
    // A second apart, so that a filler has the same day as the message that it surrounds.
    atMs: startMs + (at + 1) * 1000,
    message: backgroundMessage(chance, tongue),
  }))
  return {
    id: `own-${id}`,
    title: message.title ?? heading(chance, tongue),
    project: message.project ?? setting.project,
    model: message.model ?? setting.model,
    mode: message.mode ?? setting.mode,
    isArchived: message.isArchived ?? false,
    messages: [{ id, sceneId, atMs: startMs, message }, ...fillers],
  }
}
