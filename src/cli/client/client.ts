import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { UNREAD_HEADER } from '../../api/http/unread.ts'
import { identityAt } from '../../indexer/open-safely/cursor-file.ts'
import { SMALL_BYTES_MAX } from '../../engine/data-folder.ts'
import { UserError } from '../../model/user-error.ts'
import { readRegular } from '../../regular-file.ts'
import { fieldsOf, firstText } from '../../shared/tools.ts'
import type { ApiRoutes } from '../../api/http/routes.ts'
import type { Settings } from '../../settings.ts'
import { createClient, type Client, type Send } from '../../shared/client.ts'

const HEALTH_WITHIN_MS = 1000

/**
 * The daemon of a data folder. Null if its `daemon.json` is missing or incomplete, if its process has ended, if it does not
 * answer within a second, or if another daemon answers at its address. In the last case the file is from a killed daemon or
 * from a copied folder. The other daemon has another mirror, which must not be shown as this folder's, and not be purged.
 */
export async function findDaemon(dataDir: string): Promise<Daemon | null> {
  const facts = fieldsOf(jsonOf(readIfThere(join(dataDir, 'daemon.json')) ?? ''))
  const [pid, url, folder] = [Number(facts['pid']), firstText(facts, ['url']), firstText(facts, ['folder'])]
  if (url === undefined || !url.startsWith('http:') || !URL.canParse(url) || !isAlive(pid)) return null
  if (folder !== undefined && folder !== identityAt(dataDir)) return null
  const isOurs = await isWell(url, firstText(facts, ['startedAt']))
  return isOurs ? { pid, url, version: firstText(facts, ['version']) ?? null } : null
}

export const readToken = (dataDir: string): string | null => readIfThere(join(dataDir, 'token'))?.trim() || null

/** Whether the daemon at this address refuses a request without the token. */
export const isTokenAsked = async (url: string): Promise<boolean> => (await open(url, '/api/health')).status === 401

/** The answers of the data folder's daemon. Null if none runs. */
export async function daemonAnswers(dataDir: string): Promise<Answers | null> {
  const daemon = await findDaemon(dataDir)
  if (daemon === null) return null
  const token = readToken(dataDir)
  let missing: string | null = null
  return {
    daemon,
    ...answersOver(async (path, init) => {
      const headers = { ...(init.headers as Headers), ...(token === null ? {} : { authorization: `Bearer ${token}` }) }
      const response = await open(daemon.url, path, { ...init, headers })
      missing = response.headers.get(UNREAD_HEADER)
      return response
    }),
    missing: () => missing,
    close: async () => {},
  }
}

type Headers = Readonly<Record<string, string>>

// node:http instead of fetch, because fetch waits only five minutes for headers, and a first full pass can take longer.
async function open(url: string, path: string, { method = 'GET', ...init }: RequestInit = {}): Promise<Response> {
  const headers = { accept: '*/*', ...(init.headers as Headers) }
  // Connections are not kept alive, because the program ends after it has printed.
  const outgoing = request(url, { agent: false, method, path, headers, ...(init.signal && { signal: init.signal }) })
  // What happens after the head of the answer is an error of its body.
  outgoing.on('error', () => {}).end(init.body ?? undefined)
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const given = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
    const body = ReadableStream.from(partsOf(url, incoming))
    return new Response(body, { status: incoming.statusCode ?? 0, headers: given })
  } catch (error) {
    throw daemonLost(url, error)
  }
}

/** The body of an answer, in parts as they arrive. If the caller stops reading, the connection ends. */
async function* partsOf(url: string, incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const part of incoming) yield part as Buffer
  } catch (error) {
    throw daemonLost(url, error)
  }
}

function daemonLost(url: string, cause: unknown): UserError {
  const hint = 'Try again. It may have just stopped.'
  return new UserError('daemon-lost', `The daemon at ${url} did not answer.`, hint, { cause })
}

/** The header by which a daemon requires its token. */
const TOKEN_REQUIRED = 'Bearer realm="cursordex"'

/** Whether the daemon that started then answers, and not another program or another daemon. */
async function isWell(url: string, startedAt: string | undefined): Promise<boolean> {
  try {
    // The token is not sent, because another program may use the port by now.
    const response = await open(url, '/api/health', { signal: AbortSignal.timeout(HEALTH_WITHIN_MS) })
    // The token is only sent to a program that requires it as a daemon does.
    if (response.status === 401) return response.headers.get('www-authenticate') === TOKEN_REQUIRED
    const health = fieldsOf(jsonOf(await response.text()))
    return response.status === 200 && health['status'] === 'ok' && health['startedAt'] === startedAt
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return false
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process runs as another user.
    return errorCode(error) === 'EPERM'
  }
}

function readIfThere(file: string): string | null {
  try {
    return readRegular(file, SMALL_BYTES_MAX).toString()
  } catch (error) {
    if (error instanceof UserError) throw error
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    const hint = 'Run this as the user who owns the folder.'
    throw new UserError('unreadable', `${file} cannot be read (${code}).`, hint, { cause: error })
  }
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

export interface Daemon {
  readonly pid: number
  readonly url: string
  /** Null if `daemon.json` does not contain it. */
  readonly version: string | null
}

/**
 * Answers the commands: the routes of a running daemon, or of an engine in this process. Each request throws a UserError
 * for a problem that its route reports: exit code 2 for a bad request, otherwise 1.
 */
export interface Answers extends Client<ApiRoutes> {
  /** Null if an engine in this process answers. */
  readonly daemon: Daemon | null
  /** What the last answer lacks because it is not read yet. Absent if nothing can be missing. */
  missing?(): string | null
  close(): Promise<void>
}

/** @param note prints what the user should know, such as that reading takes long */
export type OpenAnswers = (settings: Settings, note: (text: string) => void) => Promise<Answers>

/** What to do with a daemon that may have another version than this command. */
const RESTART = 'Restart it: cursordex service restart, or stop it and start it again.'

/** The client of what an exchange of requests reaches. */
export const answersOver = (exchange: Send): Client<ApiRoutes> =>
  createClient<ApiRoutes>(async (path, init) => {
    const response = await exchange(path, init)
    if (response.status >= 400) throw errorOfProblem(response.status, path, jsonOf(await response.text()))
    const value = async (): Promise<unknown> => jsonOf(await response.text()) ?? refuseAnswer()
    return Object.defineProperty(response, 'json', { value })
  })

function refuseAnswer(): never {
  throw new UserError('unexpected-answer', 'The answer is not from cursordex.', RESTART)
}

/** The pieces of a text, as they arrive. @throws UserError if it breaks off */
export async function* piecesOf({ body }: Response): AsyncGenerator<string> {
  if (body !== null) yield* body.pipeThrough(new TextDecoderStream())
}

/** The value of a JSON text. Undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The error for an answer with a status of 400 or above.
 * @param path the path of the request, with its query
 * @param body a problem as in RFC 9457. Another program may answer, so it may be anything
 */
function errorOfProblem(status: number, path: string, body: unknown): UserError {
  const problem = fieldsOf(body)
  const [code, detail] = [firstText(problem, ['code']), firstText(problem, ['detail'])]
  const errors = Array.isArray(problem['errors']) ? problem['errors'].map(fieldsOf) : []
  const reasons = errors.filter(({ reason }) => detail?.includes(String(reason)) !== true)
  const sentences = [
    detail ?? firstText(problem, ['title']) ?? `The answer was HTTP ${status}.`,
    ...reasons.map(({ name, reason }) => `${String(name)}: ${String(reason)}`),
    ...givenIn(path, code === 'message-not-found' ? ['around'] : errors.map(({ name }) => String(name))),
  ]
  const hint = HINTS[code ?? ''] ?? (endsInRemedy(status, detail) ? '' : hintFor(status, path))
  return new UserError(code ?? `http-${status}`, sentences.join(' '), hint, { exitCode: status === 400 ? 2 : 1 })
}

const HINTS: Readonly<Record<string, string>> = {
  'message-not-found':
    'Without --around all messages of the chat are shown. With --orphans also those that the chat no longer lists.',
  'several-messages': 'Give more characters of the id.',
}

/** The values of the wrong parameters. A 404 already names what was requested. */
function givenIn(path: string, names: readonly string[]): string[] {
  const { searchParams } = new URL(path, 'http://localhost')
  const words = names.flatMap((name) => searchParams.getAll(name)).map((word) => JSON.stringify(word))
  return words.length === 0 ? [] : [`You gave ${words.join(', ')}.`]
}

/** Whether the detail ends with what to do: the reasons of a bad request do, and errors that it does not cause. */
const endsInRemedy = (status: number, detail: string | undefined): boolean =>
  detail !== undefined && [400, 409, 429, 503].includes(status)

function hintFor(status: number, path: string): string {
  if (status === 401) return 'The daemon requires its token. Run this as the user who owns the data folder.'
  if (status === 404)
    return `List what there is with: cursordex ${path.startsWith('/api/archives') ? 'archive list' : 'chats'}`
  if (status === 413)
    return 'Send it in parts. A usage file needs its first line in each part; rows in two parts count once.'
  return 'See the state of the daemon with: cursordex status'
}
