import { homedir, tmpdir } from 'node:os'
import type { RawAnswer } from './raw.ts'

export interface Attempt {
  readonly what: string
  readonly method: string
  /** True if the request comes from a foreign origin or host, and must be refused. */
  readonly isForeign: boolean
}

const STACK = /\n\s+at |node:internal|node_modules|\.[jt]s:\d+/
const ownFolders = [process.cwd(), homedir(), tmpdir()].filter((folder) => folder.length > 1)

/** The faults of an answer, whatever the request was. Empty if there are none. */
export function faultsOf({ status, headers, body }: RawAnswer, attempt: Attempt): string[] {
  const faults: string[] = []
  const say = (text: string): void => void faults.push(`${attempt.what}: ${text}`)
  if (attempt.isForeign && status < 400) say(`was answered ${status}`)
  const isDeadline = status === 503 && body.includes('"code":"deadline"')
  if (status >= 500 && !isDeadline) say(`was answered ${status}: ${body.slice(0, 200)}`)
  if (Object.keys(headers).some((name) => name.startsWith('access-control'))) say('lets others in')
  if (status >= 400 && !isOfNode({ status, headers, body })) {
    if (headers['x-content-type-options'] !== 'nosniff') say(`${status} may be sniffed`)
    if (headers['content-type'] !== 'application/problem+json') say(`${status} is ${headers['content-type']}`)
    if (attempt.method !== 'HEAD') for (const fault of problemFaults(status, body)) say(fault)
    if (STACK.test(body)) say(`${status} shows internals: ${body.slice(0, 200)}`)
    const named = ownFolders.find((folder) => body.includes(folder))
    if (named !== undefined) say(`${status} names the folder ${named}`)
  }
  return faults
}

/** What Node cannot read it refuses itself, and says no more. */
const isOfNode = ({ status, headers, body }: RawAnswer): boolean =>
  [400, 408, 413, 417, 431].includes(status) && body === '' && headers['content-type'] === undefined

function problemFaults(status: number, body: string): string[] {
  try {
    const problem = JSON.parse(body) as Readonly<Record<string, unknown>>
    const isWhole = typeof problem['code'] === 'string' && typeof problem['title'] === 'string'
    return isWhole && problem['status'] === status ? [] : [`${status} is no problem: ${body.slice(0, 200)}`]
  } catch {
    return [`${status} is no JSON: ${body.slice(0, 200)}`]
  }
}
