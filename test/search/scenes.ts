import { mapStrings, readJson, writtenOut } from '../helpers/cases.ts'

/** A message that a question is about, or a similar one. Missing properties are chosen at random. */
export interface PlantedMessage {
  readonly text?: string
  readonly role?: 'user' | 'assistant'
  readonly thinking?: string
  readonly code?: { readonly language: string; readonly path: string; readonly text: string }
  readonly tool?: ToolCall
  readonly attached?: readonly string[]
  readonly error?: string
  /** Any of these gives the message its own chat. `at` is an ISO time. */
  readonly title?: string
  readonly project?: string
  readonly at?: string
  readonly model?: string
  readonly mode?: string
  readonly isArchived?: boolean
  /** No filler around the text, because its length or its neighbours matter. */
  readonly isBare?: boolean
}

export interface ToolCall {
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly result: unknown
  readonly error?: string
}

/** A message as the files have it. A string is a message of the user. `times` makes several: `name0`, `name1` and so on. */
type Doc = string | (PlantedMessage & { readonly answer?: string; readonly times?: number })

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

/** Documents that belong together: wanted ones and similar ones. */
export interface Scene {
  /** The prefix of the ids of its messages. */
  readonly id: string
  readonly kind: string
  /** Every second scene of a kind is held back. A whole scene is, because two spellings of a name are not independent. */
  readonly half: 'tuning' | 'held-back'
  readonly docs: Readonly<Record<string, PlantedMessage>>
  readonly asks: readonly Ask[]
}

export interface Question {
  readonly ask: Ask
  readonly from: Scene
}

/** A file of `queries/` each. The corpus depends on their order. */
const kinds =
  'identifiers capitals cjk thai korean accents errors paths hashes words ranking phrases exclusions alternatives ' +
  'beginnings insides typos titles tools filters dates memories'

export const scenes: readonly Scene[] = kinds.split(' ').flatMap((kind) => {
  const { scenes: written } = readJson(import.meta.url, `queries/${kind}.json`) as {
    scenes: { docs: Record<string, Doc>; asks: Ask[] }[]
  }
  return written.map(({ docs, asks }, at): Scene => {
    const named = Object.entries(docs).flatMap(([name, doc]) => namedDocs(name, doc))
    const half = at % 2 === 0 ? 'tuning' : 'held-back'
    return { id: `${kind}-${at}`, kind, half, docs: Object.fromEntries(named), asks }
  })
})

export const questions: readonly Question[] = scenes.flatMap((from) => from.asks.map((ask) => ({ ask, from })))

function namedDocs(name: string, doc: Doc): [string, PlantedMessage][] {
  const { times, ...one } = typeof doc === 'string' ? { text: doc } : { times: undefined, ...doc }
  if (times === undefined) return [[name, messageOf(one, 0)]]
  return Array.from({ length: times }, (_, at) => [`${name}${at}`, messageOf(one, at)])
}

function messageOf(doc: Exclude<Doc, string>, at: number): PlantedMessage {
  const { answer, ...message } = writtenOut(mapStrings(doc, (text) => text.replaceAll('{at}', String(at))))
  if (answer !== undefined) return { role: 'assistant', ...message, text: answer }
  const isAnswer = [message.thinking, message.code, message.tool, message.error].some((each) => each !== undefined)
  return isAnswer ? { role: 'assistant', ...message } : message
}
