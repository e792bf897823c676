import * as z from 'zod'
import { snippetText } from '../../shared/snippet.ts'
import { printable, printableJsonText, printableLine } from '../../text/printable.ts'
import type { Chat } from '../answers/chats.ts'
import { tokensAtMost } from '../../text/tokens/estimate-tokens.ts'
import type { ApiRoutes } from '../http/routes.ts'
import { Masking } from '../export/redact/masking.ts'
import type { Client } from '../../shared/client.ts'
import type { SearchAnswer } from '../answers/search.ts'

/** A tool that only reads. Its answer is text for a model. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: z.ZodObject<Shape>
  answer(args: z.infer<z.ZodObject<Shape>>, reader: Reader): Promise<string>
}

export const defineTool = <Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool => tool

export const chatArgument = z.string().describe('Id of the chat, or the beginning of it: 4 characters or more.')
export const projectArgument = z.string().optional().describe('Only this project: its name, path or id.')
export const pathArgument = z.string().optional().describe('Only what is about this file: a path or its end.')

/** The arguments of tools that list something. */
export const scope = {
  project: projectArgument,
  machine: z.string().optional().describe('Only chats of this machine: its name or user/name. local is this machine.'),
  from: z.string().optional().describe('From this date on, such as 2026-02-01, 2026-02 or 7d.'),
  to: z.string().optional().describe('Before this date.'),
  offset: z.number().int().min(0).default(0).describe('How many to skip.'),
}

/** An argument as a filter that can be repeated. */
export const only = (value: string | undefined): readonly string[] | undefined =>
  value === undefined ? undefined : [value]

type Scope = Readonly<Partial<Record<'project' | 'machine' | 'from' | 'to', string | undefined>>>

/** The same as the parameters of a route. */
export const scopeOf = ({ project, machine, from, to }: Scope) => ({
  project: only(project),
  machine: only(machine),
  from,
  to,
})

/** The exact next call, as a line of an answer. Arguments that are not given are left out. */
export function nextCall(tool: string, args: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return `Next: ${tool} ${jsonLine(Object.fromEntries(given))}`
}

/** A day and time that a model can read, in UTC. */
export const shortTime = (iso: string | null | undefined): string =>
  iso === null || iso === undefined ? 'no date' : `${iso.slice(0, 10)} ${iso.slice(11, 16)}`

/** What was found stands between double asterisks. */
export const plainSnippet = (html: string): string => snippetText(html, '**')

const jsonLine = (value: unknown): string => printableJsonText(JSON.stringify(value))

/** An id in a line of ours. Cursor may give any text: what could be read as more than an id is written as a JSON string. */
export const idText = (id: string): string => (/^[\w.:-]+$/.test(id) ? id : jsonLine(id))

/** The only kind of line break that is left, and no character that changes how other text is shown. */
export const plainText = (text: string): string => printable(text.replaceAll('\r\n', '\n'))

/**
 * Text from a chat or a repository, each line with a mark. Such a text may look like a line of ours, or like an order.
 * No line without the mark holds text that is not ours.
 */
export const quoted = (text: string): string =>
  plainText(text)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')

/** Several such texts on one line. */
export const quotedLine = (...texts: readonly string[]): string => quoted(texts.join(' | '))

/** The machine of a chat as a part of its line; none for this machine. */
export const machineMark = (machine: Chat['machine'] = null): string[] =>
  machine === null ? [] : [`machine ${shortLine(`${machine.user}/${machine.name}`, 80)}`]

/** A chat in a list: a line of ours, and on a quoted one its title, its project and its machine, if it is another one. */
export function chatEntry(
  line: string,
  { title, project, machine }: Partial<Pick<Chat, 'machine'>> & Pick<Chat, 'title' | 'project'>,
  ...more: readonly string[]
): string {
  return `${line}\n${quotedLine(shortLine(title, 100), shortLine(project?.name ?? 'no project', 60), ...more, ...machineMark(machine))}`
}

/** A text on one line, cut to a length. */
export function shortLine(text: string, length: number): string {
  const line = printableLine(text)
  return line.length <= length ? line : `${line.slice(0, length).trimEnd()}…`
}

/** The most that one answer may take of a model's context. */
const ANSWER_TOKENS_MAX = 6000

/** For what answers end with. Below a search stand suggestions and warnings too. */
const END_TOKENS = 530

/** No token has more characters, so no more of a text can fit. */
const TOKEN_LENGTH_MAX = 10

/**
 * The longest beginning of a text, from a place on, that stays within a budget when it is quoted.
 * @returns the place after its last character
 */
export function endWithin(text: string, from: number, tokens: number): number {
  let [low, high] = [from, Math.min(text.length, from + tokens * TOKEN_LENGTH_MAX)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (tokensAtMost(quoted(text.slice(from, middle))) <= tokens) low = middle
    else high = middle - 1
  }
  // A character of two units is not divided.
  return low > from && /[\ud800-\udbff]/.test(text.charAt(low - 1)) ? low - 1 : low
}

/** An answer that is built line by line, as long as it fits. Room for its end is kept. */
export class BoundedText {
  readonly #lines: string[] = []
  /** Tokens. */
  left = ANSWER_TOKENS_MAX - END_TOKENS

  /** Adds it whole, or not at all. @returns whether it fitted */
  add(text: string): boolean {
    const cost = tokensAtMost(text) + 1
    if (cost > this.left) return false
    this.left -= cost
    this.#lines.push(text)
    return true
  }

  /** Adds texts until one does not fit. @returns how many fitted */
  addAll(texts: Iterable<string>): number {
    let count = 0
    for (const text of texts) {
      if (!this.add(text)) break
      count += 1
    }
    return count
  }

  /** Adds the last lines, which room was reserved for. */
  end(...lines: readonly string[]): string {
    return [...this.#lines, ...lines].join('\n')
  }
}

/** An answer of texts, as far as they fit, and of lines at its end. */
export function boundedAnswer(texts: readonly string[], ...end: readonly string[]): string {
  const text = new BoundedText()
  text.addAll(texts)
  return text.end(...end)
}

/** A list as an answer: its head, its entries as far as they fit, and the call for the rest. */
export function listed(
  tool: string,
  args: Readonly<Record<string, unknown>> & { readonly offset: number },
  { head, entries, total }: { readonly head: string; readonly entries: readonly string[]; readonly total: number },
): string {
  const text = new BoundedText()
  text.add(head)
  const next = args.offset + text.addAll(entries)
  if (next === args.offset || next >= total) return text.end()
  return text.end(`Left out: what comes after the first ${next}.`, nextCall(tool, { ...args, offset: next }))
}

type Api = Client<ApiRoutes>
type SearchQuery = ApiRoutes['GET /api/search']['query']

/** Names that tools are asked with again. They hold no secret, and masked they would find nothing. */
const KEPT = /^(?:id|chatId|messageId|parentChatId|sha|createdAt|lastActivityAt|at)$/

const PREFIX_MIN = 4
const LISTED_MAX = 5

export type Reader = ReturnType<typeof readerOf>

/** What the tools read: the routes of the API, with secrets masked. */
export function readerOf(client: Api, isRedacted: boolean) {
  const masked = <Value>(value: Value): Value => (isRedacted ? new Masking(KEPT).mask(value) : value)
  /** @throws UserError or Problem for a problem that the route reports */
  const get: Api['get'] = async (path, asked) => masked(await client.get(path, asked))
  return {
    get,
    /** A passage is cut from its message. Half of a key would not be known as one, so the search masks before it cuts. */
    async search(query: SearchQuery): Promise<SearchAnswer> {
      const answer = await client.get('/api/search', { query: { ...query, redact: isRedacted } })
      const { suggestions, warnings } = answer
      return { ...answer, ...masked({ suggestions, warnings }) }
    },
    /**
     * The id of the chat that is meant by its id or by the beginning of it. What fits no chat is returned unchanged, so that
     * the route reports it.
     * @throws Error if several chats fit
     */
    async chatId(given: string): Promise<string> {
      if (given.length < PREFIX_MIN) return given
      const query = { idPrefix: given, includeEmpty: true, subagents: true, limit: LISTED_MAX }
      const { items, total } = await client.get('/api/chats', { query })
      if (total <= 1) return items[0]?.id ?? given
      const ids = items.map(({ id }) => id).join(', ')
      throw new Error(`${total} chats have an id that begins with ${given}, such as ${ids}. Give more of the id.`)
    },
  }
}
