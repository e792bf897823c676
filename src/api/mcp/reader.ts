import type { ApiRoutes } from '../http/routes.ts'
import { Masking } from '../export/redact/masking.ts'
import type { Client } from '../../shared/client.ts'
import type { SearchAnswer } from '../answers/search.ts'

type Api = Client<ApiRoutes>
type SearchQuery = ApiRoutes['GET /api/search']['query']

/** Names that tools are asked with again. They hold no secret, and masked they would find nothing. */
const KEPT = /^(?:id|chatId|messageId|parentChatId|sha|createdAt|lastActivityAt|at)$/

const PREFIX_MIN = 4
const LISTED_MAX = 5

/** What the tools read: the routes of the API, with secrets masked. */
export class Reader {
  readonly #client: Api
  readonly #isRedacted: boolean

  constructor(client: Api, isRedacted: boolean) {
    this.#client = client
    this.#isRedacted = isRedacted
  }

  /** @throws UserError or Problem for a problem that the route reports */
  readonly get: Api['get'] = async (path, asked) => this.#masked(await this.#client.get(path, asked))

  /** A passage is cut from its message. Half of a key would not be known as one, so the search masks before it cuts. */
  async search(query: SearchQuery): Promise<SearchAnswer> {
    const answer = await this.#client.get('/api/search', { query: { ...query, redact: this.#isRedacted } })
    const { suggestions, warnings } = answer
    return { ...answer, ...this.#masked({ suggestions, warnings }) }
  }

  #masked<Value>(value: Value): Value {
    return this.#isRedacted ? new Masking(KEPT).maskAtOnce(value) : value
  }

  /**
   * The id of the chat that is meant by its id or by the beginning of it. What fits no chat is returned unchanged, so that
   * the route reports it.
   * @throws Error if several chats fit
   */
  async chatId(given: string): Promise<string> {
    if (given.length < PREFIX_MIN) return given
    const query = { idPrefix: given, includeEmpty: true, subagents: true, limit: LISTED_MAX }
    const { items, total } = await this.#client.get('/api/chats', { query })
    if (total <= 1) return items[0]?.id ?? given
    const ids = items.map(({ id }) => id).join(', ')
    throw new Error(`${total} chats have an id that begins with ${given}, such as ${ids}. Give more of the id.`)
  }
}
