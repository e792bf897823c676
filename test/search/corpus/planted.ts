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

/** A message that a question is about, or a similar one. Missing properties are chosen at random. */
export interface PlantedMessage {
  readonly text?: string
  readonly role?: 'user' | 'assistant'
  readonly thinking?: string
  readonly code?: { readonly language: string; readonly path?: string; readonly text: string }
  readonly tool?: ToolCall
  readonly attached?: readonly string[]
  readonly error?: string
  /** Any of these gives the message its own chat. */
  readonly title?: string
  readonly project?: ProjectName
  /** ISO time. */
  readonly at?: string
  readonly model?: string
  readonly mode?: 'agent' | 'chat' | 'plan'
  readonly isArchived?: boolean
  /** No filler around the text, because its length or its neighbours matter. */
  readonly isBare?: boolean
}

/** A string is a message of the user. */
export type Planted = string | PlantedMessage

/** One question and its known answer. Names of the scene's documents are separated by spaces. */
export interface Ask {
  readonly q: string
  /** The documents that must be found. */
  readonly want: string
  /** The document that must be first. If missing, any of `want` may be first. */
  readonly best?: string
  /** Documents that must not be among the first ten, because they do not match by the rules of the language. */
  readonly never?: string
  /** The right word for a misspelt question. Suggesting it is as good as finding the document. */
  readonly spelling?: string
  /** The answer is the whole chat: any of its messages counts. */
  readonly isOfChat?: boolean
  /** The words are so common that other documents have them too. Only the order matters. */
  readonly isCommon?: boolean
  /** The words are alternatives. */
  readonly isAny?: boolean
  /** The words for searches without operators, if removing the operators is not enough. */
  readonly plain?: string
}

/** Documents that belong together: wanted ones and similar ones. A whole scene is in one half. */
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

/** Documents that differ only in a number: `name0`, `name1` and so on. */
export const many = (name: string, count: number, make: (at: number) => Planted): Readonly<Record<string, Planted>> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, make(at)]))
