/** A value of a parameter. Undefined, null and '' are left out; a list repeats its parameter. */
export type Given = string | number | boolean | null | undefined | readonly string[]

/** What the routes take and give, by names such as `GET /api/chats`. `api/http/routes.ts` has the type of ours. */
export type Endpoints<Name extends string = string> = Readonly<
  Record<Name, { readonly query: object; readonly body: object; readonly answer: unknown }>
>

/** The paths of a method, as patterns: `/api/chats/:id`. */
type PathOf<Routes, Method extends string> = keyof Routes extends infer Name
  ? Name extends `${Method} ${infer Path}`
    ? Path
    : never
  : never

interface Asked<Query extends object = object> {
  /** The value of the path's parameter. It is percent-encoded here, and only here. */
  readonly id?: string
  readonly signal?: AbortSignal
  readonly query?: Query
}

type Of<Routes extends Endpoints, Name extends string, Key extends 'query' | 'body' | 'answer'> = Routes[Name][Key]
type AskedOf<Routes extends Endpoints, Name extends string> = Asked<Of<Routes, Name, 'query'>>

/** Calls the routes of the API, over HTTP or in this process. */
export interface Client<Routes extends Endpoints> {
  get<Path extends PathOf<Routes, 'GET'>>(
    path: Path,
    asked?: AskedOf<Routes, `GET ${Path}`>,
  ): Promise<Of<Routes, `GET ${Path}`, 'answer'>>
  post<Path extends PathOf<Routes, 'POST'>>(
    path: Path,
    asked?: AskedOf<Routes, `POST ${Path}`> & { readonly body?: Of<Routes, `POST ${Path}`, 'body'> | CsvText },
  ): Promise<Of<Routes, `POST ${Path}`, 'answer'>>
  /** The response of a route that does not answer in JSON. */
  open<Path extends PathOf<Routes, 'GET'>>(path: Path, asked?: AskedOf<Routes, `GET ${Path}`>): Promise<Response>
}

/** A body that is sent as it is, as CSV. */
export class CsvText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Sends one request. @returns a response below 400 @throws if there is none: each user of the client has its own error */
export type Send = (path: string, init: RequestInit) => Promise<Response>

export function createClient<Routes extends Endpoints>(send: Send): Client<Routes> {
  return {
    get: async (path, asked) => (await send(addressOf(path, asked), initOf(asked))).json(),
    open: (path, asked) => send(addressOf(path, asked), initOf(asked)),
    post: async (path, asked) => {
      const { body } = asked ?? {}
      const [type, text] =
        body instanceof CsvText ? ['text/csv', body.text] : ['application/json', JSON.stringify(body)]
      const sent = body === undefined ? {} : { headers: { 'content-type': type ?? '' }, body: text ?? '' }
      return (await send(addressOf(path, asked), { method: 'POST', ...initOf(asked), ...sent })).json()
    },
  }
}

const initOf = ({ signal }: Asked = {}): RequestInit => (signal === undefined ? {} : { signal })

/** The path and query of a request. */
export function addressOf(pattern: string, { id, query }: Asked = {}): string {
  const path = id === undefined ? pattern : pattern.replace(/:\w+/, () => encodeURIComponent(id))
  const text = queryOf((query ?? {}) as Readonly<Record<string, Given>>).toString()
  return text === '' ? path : `${path}?${text}`
}

export function queryOf(given: Readonly<Record<string, Given>>): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    for (const each of typeof value === 'object' && value !== null ? value : [value]) {
      if (each !== null && each !== undefined && each !== '') query.append(name, String(each))
    }
  }
  return query
}
