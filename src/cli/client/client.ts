import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { UNREAD_HEADER } from '../../api/http/unread.ts'
import { identityAt } from '../../indexer/open-safely/cursor-file.ts'
import { SMALL_BYTES_MAX } from '../../engine/data-folder.ts'
import { UserError } from '../../model/user-error.ts'
import { readRegular } from '../../regular-file.ts'
import { fieldsOf, firstText } from '../../shared/tool-summary.ts'
import { answersOver, jsonOf, type Answers, type Daemon } from './answers.ts'

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
