import { readJson, writtenOut } from '../../../helpers/cases.ts'
import type { KnownRoute } from './known-routes.ts'
import type { Ask } from './target.ts'

type Headers = Readonly<Record<string, string>>

interface Unusual {
  readonly methods: readonly string[]
  readonly segments: readonly string[]
  readonly wholePaths: readonly string[]
  readonly bodies: readonly Body[]
}

type Body = readonly [type: string | null, body: string | Buffer]

const { methods, segments, wholePaths, bodies } = writtenOut(readJson(import.meta.url, 'unusual.json') as Unusual)

export const oddMethods = (routes: readonly KnownRoute[], host: string): Ask[] =>
  [...routes.map(({ path }) => path), '/api/nothing'].flatMap((path) =>
    methods.map((method) => ({ method, path, headers: { host } })),
  )

/** Paths that are not a route, or a route with an invalid id. */
export const oddPaths = (routes: readonly KnownRoute[], host: string): Ask[] => [
  ...wholePaths.map((path) => ({ method: 'GET', path, headers: { host } })),
  ...routes
    .filter(({ pattern }) => pattern.includes(':'))
    .flatMap(({ method, pattern }) =>
      segments.map((segment) => ({ method, path: pattern.replace(/:\w+/g, () => segment), headers: { host } })),
    ),
]

const json = 'application/json'
const allBodies: readonly Body[] = [
  ...bodies,
  [json, Buffer.from('ff00fe', 'hex')],
  [json, Buffer.from('{"\ud800":1}', 'utf16le')],
  [json, `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}`],
]

/** Bodies that no route accepts, sent to every route and by every method that may have a body. */
export const oddBodies = (routes: readonly KnownRoute[], host: string): Ask[] =>
  routes.flatMap(({ path, method }) =>
    allBodies.map(([type, body]) => {
      const headers: Headers = { host, 'content-length': String(Buffer.byteLength(body)) }
      const isPost = method === 'POST'
      return {
        method: isPost ? 'POST' : 'PUT',
        path,
        headers: type === null ? headers : { ...headers, 'content-type': type },
        body,
      }
    }),
  )
