import { signal } from '@preact/signals'
import type { Page } from '../../api/answers/common.ts'
import { addressOf, type Given } from '../../shared/client.ts'

/** Lists of values become a repeated parameter; null and '' are left out. */
export type Params = Readonly<Record<string, Given>>

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

export function saveToken(given: string): void {
  sessionStorage.setItem(STORED, given)
  token.value = given
  needsToken.value = false
}

export const queryOf = (params: Params): string => addressOf('', { query: params })

/** @throws ApiError, or a TypeError of `fetch` if the daemon cannot be reached */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (token.value !== null) headers.set('authorization', `Bearer ${token.value}`)
  const response = await fetch(path, { ...init, headers })
  if (response.ok) return response
  if (response.status === 401) needsToken.value = true
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; code?: string }
  throw new ApiError(
    response.status,
    problem.code ?? 'failed',
    problem.detail ?? `The server answered ${response.status}.`,
  )
}

export async function get<T>(path: string, abort?: AbortSignal): Promise<T> {
  const response = await request(path, abort === undefined ? {} : { signal: abort })
  return (await response.json()) as T
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return (await (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T
}

const LIMIT_MAX = 200

/** Like `get`, for a list with any `limit`: the server gives at most 200 items at a time. */
export async function getList<T extends Page<unknown>>(path: string, abort?: AbortSignal): Promise<T> {
  const { pathname, searchParams } = new URL(path, location.origin)
  const wanted = Number(searchParams.get('limit'))
  const items: unknown[] = []
  for (;;) {
    searchParams.set('limit', String(Math.min(LIMIT_MAX, wanted - items.length)))
    searchParams.set('offset', String(items.length))
    const page = await get<T>(`${pathname}?${searchParams}`, abort)
    items.push(...page.items)
    if (page.items.length === 0 || items.length >= Math.min(wanted, page.total)) {
      return { ...page, items, limit: wanted, offset: 0 }
    }
  }
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** Saves an answer as a file: a plain link could not send the token. */
export async function download(path: string, fallbackName: string): Promise<void> {
  const response = await request(path)
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? fallbackName
  saveBlob(await response.blob(), name)
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** What to show for any error. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  return error instanceof TypeError ? 'The daemon does not answer.' : String(error)
}
