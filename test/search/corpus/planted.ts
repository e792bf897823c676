export const projectNames = [
  'storefront',
  'billing-core',
  'atlas-mobile',
  'ledger',
  'weather-station',
  'docs-site',
  'infra',
  '支付网关',
] as const
export type ProjectName = (typeof projectNames)[number]

export interface ToolCall {
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly result: unknown
  readonly error?: string
}

/** A message that a question is about, or one that looks like it. What is not said comes by chance. */
export interface PlantedMessage {
  readonly text?: string
  readonly role?: 'user' | 'assistant'
  readonly thinking?: string
  readonly code?: { readonly language: string; readonly path?: string; readonly text: string }
  readonly tool?: ToolCall
  readonly attached?: readonly string[]
  readonly error?: string
  /** Any of these gives it a chat of its own. */
  readonly title?: string
  readonly project?: ProjectName
  /** ISO time. */
  readonly at?: string
  readonly model?: string
  readonly mode?: 'agent' | 'chat' | 'plan'
  readonly isArchived?: boolean
  /** No filler around the text: where its length or its neighbours matter. */
  readonly isBare?: boolean
}

/** A string is what the user wrote. */
export type Planted = string | PlantedMessage

/** One question and its known answer. Names are those of the scene's documents, parted by spaces. */
export interface Ask {
  readonly q: string
  /** All that must be found. */
  readonly want: string
  /** The one that has to come first; where there is none, any of `want` may. */
  readonly best?: string
  /** What must not be among the first ten, because the language says that it does not match. */
  readonly never?: string
  /** The right word of a misspelt question: to suggest it is as good as to find. */
  readonly spelling?: string
  /** The answer is the whole chat: any of its messages will do. */
  readonly isOfChat?: boolean
  /** Its words are so common that others hold them too, and only the order tells. */
  readonly isCommon?: boolean
  /** The words are alternatives. */
  readonly isAny?: boolean
  /** Words for those who know no operators, where they are not simply what is left without them. */
  readonly plain?: string
}

/** Documents that belong together: what is wanted beside what looks like it. A whole scene falls into one half. */
export interface Scene {
  readonly docs: Readonly<Record<string, Planted>>
  readonly asks: readonly Ask[]
}

type More = Omit<PlantedMessage, 'text' | 'thinking' | 'code' | 'tool'>

export const answer = (text: string, more: More = {}): PlantedMessage => ({ role: 'assistant', text, ...more })

export const bare = (text: string, more: More = {}): PlantedMessage => ({ text, isBare: true, ...more })

export const thought = (thinking: string, more: More = {}): PlantedMessage => ({ role: 'assistant', thinking, ...more })

export const code = (language: string, path: string, text: string, more: More = {}): PlantedMessage => ({
  role: 'assistant',
  code: { language, path, text },
  ...more,
})

export const tool = (
  name: string,
  params: Readonly<Record<string, unknown>>,
  result: unknown,
  more: More = {},
): PlantedMessage => ({ role: 'assistant', tool: { name, params, result }, ...more })

export const failedTool = (
  name: string,
  params: Readonly<Record<string, unknown>>,
  error: string,
  more: More = {},
): PlantedMessage => ({ role: 'assistant', tool: { name, params, result: {}, error }, ...more })

/** Documents that differ in a number only: `name0`, `name1` and so on. */
export const many = (name: string, count: number, make: (at: number) => Planted): Readonly<Record<string, Planted>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, make(at)]))
