import { signal } from '@preact/signals'
import type { ApiRoutes } from '../../api/http/routes.ts'
import { addressOf, createClient, type Given } from '../../shared/client.ts'

/** An answer that is no success, in the words of the server. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, detail: string) {
    super(detail)
    this.status = status
    this.code = code
  }
}

const STORED = 'cursordex-token'

/** The token of this tab, from `#token=…` or typed. */
export const token = signal<string | null>(takeToken())
/** True after the server refused a request for lack of the right token. */
export const needsToken = signal(false)

/** The fragment never reaches a server; it is removed so that no copied link contains the token. */
function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given === null) return sessionStorage.getItem(STORED)
  history.replaceState(null, '', location.pathname + location.search)
  sessionStorage.setItem(STORED, given)
  return given
}

/** Answers that are on their way before the screen that wants them is there, by their addresses. */
const ahead = new Map<string, Promise<Response>>()

/** Asks for what a screen will want first, while its script is still loading. */
export function askAhead(address: string): void {
  const answer = send(address, {})
  ahead.set(address, answer)
  // Whoever takes the answer gets the error.
  answer.catch(() => undefined)
}

export function saveToken(given: string): void {
  ahead.clear()
  sessionStorage.setItem(STORED, given)
  token.value = given
  needsToken.value = false
}

/** A query as it stands in an address of the page; null and '' are left out, and a list repeats its parameter. */
export const queryOf = (params: Readonly<Record<string, Given>>): string => addressOf('', { query: params })

function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  if (token.value !== null) headers.set('authorization', `Bearer ${token.value}`)
  return fetch(path, { ...init, headers })
}

/** @throws ApiError, or a TypeError of `fetch` if the daemon cannot be reached */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const asked = ahead.get(path)
  ahead.delete(path)
  const response = await (asked ?? send(path, init))
  if (response.ok) return response
  if (response.status === 401) needsToken.value = true
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; code?: string }
  throw new ApiError(
    response.status,
    problem.code ?? 'failed',
    problem.detail ?? `The server answered ${response.status}.`,
  )
}

export const api = createClient<ApiRoutes>(request)

/** Paths that can be asked for, as patterns: `/api/chats/:id`. */
export type GetPath = keyof ApiRoutes extends infer Name ? (Name extends `GET ${infer Path}` ? Path : never) : never
export type QueryOf<Path extends GetPath> = ApiRoutes[`GET ${Path}`]['query']
export type AnswerOf<Path extends GetPath> = ApiRoutes[`GET ${Path}`]['answer']

export interface Asked<Path extends GetPath> {
  readonly id?: string
  readonly query?: QueryOf<Path>
  readonly signal?: AbortSignal
}

const LIMIT_MAX = 200

interface List {
  readonly items: readonly unknown[]
  readonly total: number
}
/** Paths whose answer is a list. */
export type ListPath = { [Path in GetPath]: AnswerOf<Path> extends List ? Path : never }[GetPath]

/** The first `count` items of a list: the server gives at most 200 at a time. */
export async function getList<Path extends ListPath>(
  path: Path,
  count: number,
  { query, ...asked }: Asked<Path> = {},
): Promise<AnswerOf<Path>> {
  const items: unknown[] = []
  for (;;) {
    const part = { ...query, limit: Math.min(LIMIT_MAX, count - items.length), offset: items.length }
    const page = (await api.get(path, { ...asked, query: part })) as AnswerOf<Path> & List
    items.push(...page.items)
    if (page.items.length === 0 || items.length >= Math.min(count, page.total)) return { ...page, items }
  }
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** What to show for any error. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  return error instanceof TypeError ? 'The daemon does not answer.' : String(error)
}
