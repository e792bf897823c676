import type { Status } from '../answers/status.ts'
import type { Context } from 'hono'
import type * as z from 'zod/mini'
import type { Answer } from '../answers/common.ts'
import type { ApiContext } from '../context.ts'
import type { Metrics } from './metrics.ts'
import type { noParameters, Params } from './params.ts'

/** What a handler works with. All handlers of an app share one. */
export interface Api extends ApiContext {
  readonly readStatus: () => Status
  readonly loadMetrics: () => Promise<Metrics>
}

export const problemSentences = {
  400: 'A parameter, the body or the path is wrong. errors lists what.',
  401: 'The token is required and was not sent.',
  403: 'The request comes from a page of another origin.',
  404: 'Nothing has this id, sha or name.',
  409: 'The named project has no readable git history.',
  413: 'The body is too long.',
  415: 'The body has another media type.',
  421: 'The Host header names another server.',
  429: 'Another act of this kind runs. Try again when it is done.',
  503: 'The mirror is missing, damaged or busy, or time ran out. The detail says what to do.',
} as const

/** What a request gives: its path parameter, query and body, as the schemas of the route read them. */
export interface Given<Query, Body> {
  /** The one parameter of the path, decoded; empty if the path has none. */
  readonly id: string
  readonly query: Query
  readonly body: Body
  readonly c: Context
}

type Schema = z.ZodMiniObject
/** The schema of a JSON answer, or the media types of another one. */
type AnswerKind = z.ZodMiniType | readonly string[]
type AnswerOf<Kind> = Kind extends z.ZodMiniType ? Answer<Kind> : string
type Awaitable<Value> = Value | Promise<Value>

/** What a route takes, what it answers, what it says of itself, and how it answers. */
interface Described<Query extends Schema, Body extends Schema, Kind extends AnswerKind> {
  /** One line that explains it. */
  readonly says: string
  /** Without it, the route takes no parameters. */
  readonly query?: Query
  /** Without it, a POST takes an empty JSON object, or none. */
  readonly body?: Body
  /** The media type of a body that is not JSON. Its handler reads it. */
  readonly bodyType?: 'text/csv'
  readonly answer: Kind
  readonly status?: 202
  /** Statuses of its problems, besides those that every route has, or every POST, or every path with a parameter. */
  readonly problems?: readonly (keyof typeof problemSentences)[]
  /** @throws Problem, UserError */
  handle(given: Given<Params<Query>, z.output<Body>>, api: Api): Awaitable<AnswerOf<Kind> | Response>
}

type Method = 'GET' | 'POST'

/** Any route. Its handler takes what its own schemas give: the application calls it with that. */
export interface Route extends Omit<Described<Schema, Schema, AnswerKind>, 'handle'> {
  readonly method: Method
  /** `:name` stands for one segment. Below `/api`, or the metrics. */
  readonly path: string
  handle(given: Given<never, never>, api: Api): unknown
}

/** A route with the types that a client of it sees. They exist only at compile time. */
interface Typed<Name extends string, Query extends Schema, Body extends Schema, Kind> extends Route {
  readonly sees?: {
    readonly name: Name
    readonly query: { readonly [Key in keyof Params<Query>]?: Params<Query>[Key] | undefined }
    readonly body: z.input<Body>
    readonly answer: AnswerOf<Kind>
  }
}

/** Checks that a handler takes what the schemas of its route give, and answers by its schema. */
const routeBy =
  <const By extends Method>(method: By) =>
  <
    const Path extends string,
    const Kind extends AnswerKind,
    Query extends Schema = typeof noParameters,
    Body extends Schema = typeof noParameters,
  >(
    path: Path,
    given: Described<Query, Body, Kind>,
  ): Typed<`${By} ${Path}`, Query, Body, Kind> => ({ ...given, method, path })
export const get = routeBy('GET')
export const post = routeBy('POST')

/** What clients see of routes, by their names. */
export type Seen<Each extends { readonly sees?: { readonly name: string } }> = {
  readonly [One in NonNullable<Each['sees']> as One['name']]: One
}

/** Whether a path fits a pattern. @param path still percent-encoded */
export function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => (segment.startsWith(':') ? given[index] !== '' : segment === given[index]))
  )
}
