import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import { Trouble } from '../model/trouble.ts'
import type { Answers } from './answers.ts'
import { troubleOfProblem } from './problem.ts'

const HEALTH_WITHIN_MS = 1000

const daemonFile = z.object({ pid: z.number().int().positive(), url: z.url({ protocol: /^http$/ }) })

export interface Daemon {
  readonly pid: number
  readonly url: string
}

/**
 * The daemon of a data folder, or null where none runs: its `daemon.json` is missing or half written, its process is
 * gone, or it does not answer within a second.
 */
export async function findDaemon(dataDir: string): Promise<Daemon | null> {
  const text = await readIfThere(join(dataDir, 'daemon.json'))
  const parsed = daemonFile.safeParse(text === null ? null : jsonOf(text))
  if (!parsed.success || !isAlive(parsed.data.pid)) return null
  const { pid, url } = parsed.data
  return (await isHealthy(url)) ? { pid, url } : null
}

/** The answers of the daemon that runs on a data folder, or null where none runs. */
export async function daemonAnswers(dataDir: string): Promise<Answers | null> {
  const daemon = await findDaemon(dataDir)
  if (daemon === null) return null
  const token = (await readIfThere(join(dataDir, 'token')))?.trim() || null
  const exchange = async (call: Call) => {
    const reply = await send(daemon.url, { ...call, token })
    const body = jsonOf(reply.text)
    if (reply.status >= 400) throw troubleOfProblem(reply.status, body)
    if (body !== undefined) return body
    throw new Trouble('unexpected-answer', `${daemon.url} does not answer as cursordex does.`, 'Restart the daemon.')
  }
  return {
    origin: 'daemon',
    get: (path, query) => exchange({ method: 'GET', path: query.size === 0 ? path : `${path}?${query.toString()}` }),
    post: (path, body) => exchange({ method: 'POST', path, body }),
    close: async () => {},
  }
}

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly token?: string | null
  readonly withinMs?: number
}

// node:http and not fetch: a first full pass may take longer than the five minutes that fetch waits for headers.
function send(url: string, call: Call): Promise<{ readonly status: number; readonly text: string }> {
  const body = call.body === undefined ? null : JSON.stringify(call.body)
  const options = {
    method: call.method,
    // No connection outlives its answer: the program ends when it has printed.
    agent: false,
    path: call.path,
    ...(call.withinMs === undefined ? {} : { signal: AbortSignal.timeout(call.withinMs) }),
    headers: {
      accept: 'application/json',
      ...(call.token ? { authorization: `Bearer ${call.token}` } : {}),
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  }
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) =>
      reject(
        new Trouble('daemon-lost', `The daemon at ${url} did not answer.`, 'Try again; it may have just stopped.', {
          cause,
        }),
      )
    const outgoing = request(url, options, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', lost)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    outgoing.on('error', lost)
    outgoing.end(body ?? undefined)
  })
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    // Without the token: another program may have the port by now.
    const { status, text } = await send(url, { method: 'GET', path: '/api/health', withinMs: HEALTH_WITHIN_MS })
    return status === 401 || (status === 200 && z.object({ status: z.literal('ok') }).safeParse(jsonOf(text)).success)
  } catch (error) {
    if (error instanceof Trouble) return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, as another user.
    return errorCode(error) === 'EPERM'
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Trouble('unreadable', `${file} cannot be read (${code}).`, 'Run this as the user who owns the folder.', {
      cause: error,
    })
  }
}

const errorCode = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error))

/** The value of a JSON text, or `undefined` where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
