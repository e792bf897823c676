/** Requests that no client library sends. `{host}` is the server's own. */
export interface RawShape {
  readonly what: string
  readonly bytes: string
  /** The allowed answers. `closed` if the connection may end without an answer. */
  readonly allowed: readonly (number | 'closed')[]
  readonly isHalfClosed?: boolean
  readonly answersMax?: number
}

const get = (path: string, ...headers: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n')
const post = (body: string, ...headers: readonly string[]): string =>
  ['POST /api/sync HTTP/1.1', 'Host: {host}', 'Content-Type: application/json', ...headers, '', body].join('\r\n')
const inner = 'GET /api/health HTTP/1.1\r\nHost: evil.com\r\n\r\n'

const smuggled: readonly RawShape[] = [
  {
    what: 'a length beside chunks',
    bytes: post(`0\r\n\r\n${inner}`, 'Content-Length: 4', 'Transfer-Encoding: chunked'),
    allowed: [400],
  },
  {
    what: 'two lengths',
    bytes: post(`{}${inner}`, 'Content-Length: 2', `Content-Length: ${inner.length}`),
    allowed: [400],
  },
  { what: 'a list of lengths', bytes: post('{}', 'Content-Length: 2, 2'), allowed: [400] },
  { what: 'a negative length', bytes: post('{}', 'Content-Length: -1'), allowed: [400] },
  { what: 'a length with a sign', bytes: post('{}', 'Content-Length: +2'), allowed: [400] },
  { what: 'a length in hex', bytes: post('{}', 'Content-Length: 0x2'), allowed: [400] },
  { what: 'a length beyond numbers', bytes: post('{}', `Content-Length: ${'9'.repeat(30)}`), allowed: [400, 413] },
  { what: 'chunks by another name', bytes: post('0\r\n\r\n', 'Transfer-Encoding: xchunked'), allowed: [400] },
  { what: 'chunks named twice', bytes: post('0\r\n\r\n', 'Transfer-Encoding: chunked, identity'), allowed: [400] },
  { what: 'chunks behind a tab', bytes: post('0\r\n\r\n', 'Transfer-Encoding:\tchunked'), allowed: [200, 400] },
  { what: 'a space before the colon', bytes: post('0\r\n\r\n', 'Transfer-Encoding : chunked'), allowed: [400] },
  { what: 'a folded header', bytes: post('', 'Content-Length: 0', 'X: a', ' b'), allowed: [200, 400] },
  { what: 'a chunk of no size', bytes: post('zz\r\n', 'Transfer-Encoding: chunked'), allowed: [400] },
  {
    what: 'a chunk of an endless size',
    bytes: post(`${'f'.repeat(40)}\r\n`, 'Transfer-Encoding: chunked'),
    allowed: [400],
  },
  {
    what: 'a chunk with endless words on it',
    bytes: post(`2;${'a'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked'),
    allowed: [400, 413],
  },
  { what: 'a bare line feed', bytes: 'GET /api/health HTTP/1.1\nHost: {host}\n\n', allowed: [200, 400] },
  { what: 'a bare carriage return', bytes: get('/api/health', 'Host: {host}\rX: y'), allowed: [400, 421] },
  { what: 'a NUL in a header', bytes: get('/api/health', 'Host: {host}', 'X: a\u0000b'), allowed: [400] },
  { what: 'a header without a colon', bytes: get('/api/health', 'Host: {host}', 'nonsense'), allowed: [400] },
]

const misdirected: readonly RawShape[] = [
  { what: 'no Host', bytes: get('/api/health'), allowed: [421] },
  { what: 'two Hosts, ours first', bytes: get('/api/health', 'Host: {host}', 'Host: evil.com'), allowed: [400, 421] },
  { what: 'two Hosts, ours last', bytes: get('/api/health', 'Host: evil.com', 'Host: {host}'), allowed: [400, 421] },
  { what: 'our Host twice', bytes: get('/api/health', 'Host: {host}', 'host: {host}'), allowed: [400, 421] },
  { what: 'a Host with a space before the colon', bytes: get('/api/health', 'Host : {host}'), allowed: [400, 421] },
  {
    what: 'two Origins',
    bytes: get('/api/health', 'Host: {host}', 'Origin: http://{host}', 'Origin: null'),
    allowed: [403],
  },
  {
    what: 'two sites',
    bytes: get('/api/health', 'Host: {host}', 'Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site'),
    allowed: [403],
  },
  { what: 'a target elsewhere', bytes: get('http://evil.com/api/health', 'Host: {host}'), allowed: [421] },
  { what: 'a target here, a Host elsewhere', bytes: get('http://{host}/api/health', 'Host: evil.com'), allowed: [421] },
  { what: 'a target here', bytes: get('http://{host}/api/health', 'Host: {host}'), allowed: [200] },
  {
    what: 'a target here for somebody',
    bytes: get('http://a:b@{host}/api/health', 'Host: {host}'),
    allowed: [200, 400, 421],
  },
  {
    what: 'a target elsewhere for us',
    bytes: get('http://{host}@evil.com/api/health', 'Host: {host}'),
    allowed: [400, 421],
  },
  { what: 'a target on another scheme', bytes: get('ftp://{host}/api/health', 'Host: {host}'), allowed: [400, 421] },
  { what: 'a target that is none', bytes: get('api/health', 'Host: {host}'), allowed: [400, 421] },
  { what: 'a star', bytes: 'OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n', allowed: [400, 404, 405, 421] },
  {
    what: 'a tunnel',
    bytes: 'CONNECT evil.com:443 HTTP/1.1\r\nHost: {host}\r\n\r\n',
    allowed: ['closed', 400, 405, 421],
  },
  {
    what: 'another protocol',
    bytes: get('/api/events', 'Host: evil.com', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'),
    allowed: [421],
  },
]

const unusual: readonly RawShape[] = [
  { what: 'HTTP/1.0 with a Host', bytes: 'GET /api/health HTTP/1.0\r\nHost: {host}\r\n\r\n', allowed: [200] },
  { what: 'HTTP/1.0 without a Host', bytes: 'GET /api/health HTTP/1.0\r\n\r\n', allowed: [421] },
  { what: 'HTTP/0.9', bytes: 'GET /api/health\r\n\r\n', allowed: [400, 421] },
  { what: 'HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', allowed: [400, 'closed'] },
  { what: 'HTTP/9.9', bytes: 'GET /api/health HTTP/9.9\r\nHost: {host}\r\n\r\n', allowed: [400] },
  { what: 'TLS', bytes: '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc', allowed: [400] },
  { what: 'a method of its own', bytes: 'NONSENSE /api/health HTTP/1.1\r\nHost: {host}\r\n\r\n', allowed: [400] },
  {
    what: 'bytes beyond ASCII in the target',
    bytes: get('/api/chats/\u00ff\u00fe', 'Host: {host}'),
    allowed: [400, 404],
  },
  { what: 'a blank in the target', bytes: get('/api/chats/a b', 'Host: {host}'), allowed: [400] },
  { what: 'a backslash in the target', bytes: get('/\\evil.com', 'Host: {host}'), allowed: [400, 404] },
  {
    what: 'headers without end',
    bytes: get('/api/health', 'Host: {host}', `X: ${'a'.repeat(300_000)}`),
    allowed: [431],
  },
  {
    what: 'ten thousand headers',
    bytes: get('/api/health', 'Host: {host}', ...Array.from({ length: 10_000 }, (_, at) => `X${at}: y`)),
    allowed: [200, 431],
  },
  { what: 'an expectation', bytes: get('/api/health', 'Host: {host}', 'Expect: tea'), allowed: [417] },
  {
    what: 'a body that is waited for',
    bytes: post('{}', 'Content-Length: 2', 'Expect: 100-continue'),
    allowed: [100, 200],
  },
  { what: 'half closed', bytes: get('/api/health', 'Host: {host}'), allowed: [200], isHalfClosed: true },
  { what: 'half closed in the middle', bytes: 'GET /api/hea', allowed: [400, 'closed'], isHalfClosed: true },
  { what: 'a body cut off', bytes: post('{', 'Content-Length: 9'), allowed: [400, 'closed'], isHalfClosed: true },
  {
    what: 'fifty at once',
    bytes: get('/api/health', 'Host: {host}').repeat(50),
    allowed: [200],
    answersMax: 50,
  },
  {
    what: 'a good one behind a bad one',
    bytes: get('/api/health', 'Host: evil.com') + get('/api/health', 'Host: {host}'),
    allowed: [421, 200],
    answersMax: 2,
  },
]

export const rawShapes: readonly RawShape[] = [...smuggled, ...misdirected, ...unusual]
