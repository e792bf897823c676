import { Readable, Writable } from 'node:stream'
import { answersOver } from '../../src/cli/client/client.ts'
import { runCli } from '../../src/cli/main.ts'
import type { World } from '../../src/cli/session.ts'
import type { Settings } from '../../src/settings.ts'
import { wholeAnswer } from '../helpers/whole-answer.ts'

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query: string
  readonly body?: unknown
}

export type Reply = (call: Call) => unknown

export class Paper extends Writable {
  text = ''
  readonly isTTY: boolean
  readonly columns: number
  constructor(columns: number | null = null) {
    super()
    this.isTTY = columns !== null
    this.columns = columns ?? 0
  }
  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.text += chunk.toString('utf8')
    // Done later, like a slow reader. A program that does not wait loses the end.
    setTimeout(done, 1)
  }
}

/** A reader that closes the pipe after `writesMax` writes. */
export class ClosingPipe extends Writable {
  writes = 0
  readonly writesMax: number
  constructor(writesMax: number) {
    super()
    this.writesMax = writesMax
  }
  override _write(_chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.writes += 1
    done(this.writes > this.writesMax ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) : null)
  }
}

export interface Run {
  readonly exitCode: number
  readonly out: string
  readonly err: string
  readonly calls: readonly Call[]
  readonly settings: Settings | null
  readonly isClosed: boolean
  readonly served: Settings | null
}

/** Runs one command line with fake answers. */
export async function run(
  argv: readonly string[],
  reply: Reply = () => ({}),
  world: Partial<World> = {},
  missing: string | null = null,
): Promise<Run> {
  const calls: Call[] = []
  const [stdout, stderr] = [new Paper(), new Paper()]
  let settings: Settings | null = null
  let served: Settings | null = null
  let isClosed = false
  const take = async (call: Call) => {
    calls.push(call)
    const answer = await reply(call)
    // With --json the answer is printed as it came.
    return argv.includes('--json') ? answer : wholeAnswer(call.method, call.path, answer)
  }
  const exitCode = await runCli(argv, {
    openAnswers: async (given) => {
      settings = given
      return {
        daemon: { pid: 1, url: 'http://127.0.0.1:4870', version: '1.2.3' },
        ...answersOver(async (target, { method, body }) => {
          const [path = '', query = ''] = target.split('?')
          const sent = typeof body === 'string' ? { body: path.endsWith('/import') ? body : JSON.parse(body) } : {}
          const answer = await take({ method: method === 'POST' ? 'POST' : 'GET', path, query, ...sent })
          // A list is a text that arrives in pieces.
          if (!Array.isArray(answer)) return Response.json(answer)
          return new Response(ReadableStream.from(answer.map((piece) => Buffer.from(String(piece)))))
        }),
        missing: () => missing,
        close: async () => {
          isClosed = true
        },
      }
    },
    serve: async (given) => {
      served = given
    },
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: {},
    platform: 'linux',
    homeDir: '/nonexistent/home',
    workingDir: '/nonexistent',
    timeZone: 'Asia/Tokyo',
    version: '1.2.3',
    openPager: async () => null,
    now: () => Date.parse('2026-02-22T12:00:00Z'),
    ...world,
  })
  return { exitCode, out: stdout.text, err: stderr.text, calls, settings, isClosed, served }
}
