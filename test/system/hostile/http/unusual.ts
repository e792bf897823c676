import type { KnownRoute } from './known-routes.ts'
import type { Ask } from './target.ts'

type Headers = Readonly<Record<string, string>>

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'PURGE',
  'LINK',
  'MKCOL',
  'LOCK',
  'REPORT',
  'M-SEARCH',
  'SUBSCRIBE',
  'SOURCE',
] as const

export const oddMethods = (routes: readonly KnownRoute[], host: string): Ask[] =>
  [...routes.map(({ path }) => path), '/api/nothing'].flatMap((path) =>
    methods.map((method) => ({ method, path, headers: { host } })),
  )

const segments = [
  '%00',
  '%2e%2e',
  '%2e',
  '%2E%2E%2F',
  '..%2f..%2fetc%2fpasswd',
  '%5c..%5c',
  '%',
  '%zz',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%25',
  '%2525',
  '%0d%0aX-Y:z',
  '%0a',
  '%7f',
  '%e2%80%ae',
  '%f0%9f%98%80',
  '+',
  '*',
  ':id',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  '-1',
  "'",
  '"',
  '<script>',
  '{}',
  '[]',
  ';',
  '&',
  '=',
  '@',
  '!',
  '~',
  '$',
  'toString',
  'a'.repeat(8e3),
  '%00'.repeat(2e3),
  '%2f'.repeat(2e3),
  '../'.repeat(500),
  '%ef%bb%bf',
  '%u0041',
  '.',
]

const wholePaths = [
  '//',
  '///',
  '//api/health',
  '/api//health',
  '/api/health/',
  '/api/health//',
  '/API/HEALTH',
  '/api/health%20',
  '/./api/health',
  '/api/../etc/passwd',
  '/api/./../../x',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/..;/api',
  '/api;x=1/health',
  '//evil.com/api/health',
  '/\\evil.com',
  '/api\\health',
  '/api/health?',
  '/api/health?#',
  '/api/health#x',
  '/?',
  '/??',
  '/favicon.ico',
  '/.env',
  '/index.html',
  '/api',
  '/api/',
  '/api/chats/',
  '/api/chats//messages',
  '/api/chats//export',
  `/${'a'.repeat(100_000)}`,
  `/${'a/'.repeat(20_000)}`,
  `/api/health?${'a'.repeat(100_000)}`,
]

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
const bodies: readonly (readonly [type: string | null, body: string | Buffer])[] = [
  [json, '{'],
  [json, '{"full":'],
  [json, '{"full":"yes"}'],
  [json, '{"full":1}'],
  [json, '{"full":null}'],
  [json, '{"fulll":true}'],
  [json, '{"__proto__":{"full":true}}'],
  [json, '{"constructor":1}'],
  [json, '{"":1}'],
  [json, '[]'],
  [json, 'null'],
  [json, '7'],
  [json, '"x"'],
  [json, ' '],
  [json, '\u0000'],
  [json, '\ufeff{}x'],
  [json, Buffer.from('ff00fe', 'hex')],
  [json, Buffer.from('{"\ud800":1}', 'utf16le')],
  [json, '['.repeat(100_000)],
  [json, '['.repeat(100_000) + ']'.repeat(100_000)],
  [json, `{"full":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  [json, `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}`],
  [json, ' '.repeat(1024 * 1024 + 1)],
  [json, ' '.repeat(5 * 1024 * 1024)],
  ['text/plain', '{"full":true}'],
  ['application/x-www-form-urlencoded', 'full=true'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['application/jsonx', '{}'],
  ['', '{}'],
  [null, '{}'],
  ['application/json; charset=utf-16', '{'],
  ['text/csv', ''],
  ['text/csv', '"'],
  ['text/csv', 'Date,Model,Total Tokens\n,,\n\0,\0,\0'],
  ['text/csv', `Date,Model,Total Tokens\n${',"'.repeat(20_000)}`],
  ['text/csv; charset=utf-16', '\ufeff"Date";"Model";"Tokens"\n9999999999999;;9'],
]

/** Bodies that no route accepts, sent to every route and by every method that may have a body. */
export const oddBodies = (routes: readonly KnownRoute[], host: string): Ask[] =>
  routes.flatMap(({ path, method }) =>
    bodies.map(([type, body]) => {
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
