import type { Ask, Scene } from '../corpus/planted.ts'
import { accents } from './accents.ts'
import { alternatives } from './alternatives.ts'
import { beginnings } from './beginnings.ts'
import { capitals } from './capitals.ts'
import { cjk } from './cjk.ts'
import { dates } from './dates.ts'
import { errors } from './errors.ts'
import { exclusions } from './exclusions.ts'
import { filters } from './filters.ts'
import { hashes } from './hashes.ts'
import { identifiers } from './identifiers.ts'
import { insides } from './insides.ts'
import { korean } from './korean.ts'
import { memories } from './memories.ts'
import { paths } from './paths.ts'
import { phrases } from './phrases.ts'
import { ranking } from './ranking.ts'
import { thai } from './thai.ts'
import { titles } from './titles.ts'
import { tools } from './tools.ts'
import { typos } from './typos.ts'
import { words } from './words.ts'

const scenesByKind = {
  identifiers,
  capitals,
  cjk,
  thai,
  korean,
  accents,
  errors,
  paths,
  hashes,
  words,
  ranking,
  phrases,
  exclusions,
  alternatives,
  beginnings,
  insides,
  typos,
  titles,
  tools,
  filters,
  dates,
  memories,
} satisfies Readonly<Record<string, readonly Scene[]>>

export type Kind = keyof typeof scenesByKind
export const kinds = Object.keys(scenesByKind) as readonly Kind[]

export const halves = ['tuning', 'held-back'] as const
export type Half = (typeof halves)[number]

export interface PlacedScene {
  /** The prefix of the ids of its messages. */
  readonly id: string
  readonly kind: Kind
  readonly half: Half
  readonly scene: Scene
}

export interface Question {
  readonly ask: Ask
  readonly from: PlacedScene
}

/** Every second scene of a kind is held back. The split is by scene, because two spellings of a name are not independent. */
export const scenes: readonly PlacedScene[] = kinds.flatMap((kind) =>
  scenesByKind[kind].map((scene, index) => ({
    id: `${kind}-${index}`,
    kind,
    half: index % 2 === 0 ? ('tuning' as const) : ('held-back' as const),
    scene,
  })),
)

export const questions: readonly Question[] = scenes.flatMap((from) => from.scene.asks.map((ask) => ({ ask, from })))
