import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { addressOf } from '../../shared/client.ts'
import { type AnswerOf, api, type Asked, type GetPath, getList, isAbort, type ListPath, token } from './api.ts'
import { connections, type LiveEvent, onLive, type LiveType } from './live.ts'

export interface Loaded<T> {
  /** The last answer; it stays while the next one is loading. */
  readonly data: T | null
  /** The address that `data` answers. */
  readonly path: string | null
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Answers that are shown at once when one comes back to their address, while they are asked for again. */
const answers = new Map<string, unknown>()
const ANSWERS_MAX = 40

function keep(address: string, answer: unknown): void {
  answers.delete(address)
  answers.set(address, answer)
  const [oldest] = answers.keys()
  if (answers.size > ANSWERS_MAX && oldest !== undefined) answers.delete(oldest)
}

/** Loads a path, and again when it changes or the daemon is back. Stale answers are dropped. Null loads nothing. */
export const useData = <Path extends GetPath>(path: Path | null, asked: Asked<Path> = {}): Loaded<AnswerOf<Path>> =>
  useLoaded(path === null ? null : addressOf(path, asked), (signal) => api.get(path as Path, { ...asked, signal }))

/** Like `useData`, for the first `count` items of a list. */
export const useList = <Path extends ListPath>(
  path: Path,
  count: number,
  asked: Asked<Path> = {},
): Loaded<AnswerOf<Path>> =>
  useLoaded(`${addressOf(path, asked)} ${count}`, (signal) => getList(path, count, { ...asked, signal }))

/** @param key stands for what is loaded; null loads nothing */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState(() => ({
    data: (key === null ? null : (answers.get(key) ?? null)) as T | null,
    path: key !== null && answers.has(key) ? key : null,
    error: null as unknown,
    isLoading: true,
  }))
  const [round, setRound] = useState(0)
  const connected = connections.value
  const usedToken = token.value
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    if (key === null) return undefined
    const controller = new AbortController()
    const known = answers.get(key) as T | undefined
    setState((old) => ({ ...old, ...(known === undefined ? {} : { data: known, path: key }), isLoading: true }))
    const run = async (): Promise<void> => {
      try {
        const data = await load(controller.signal)
        keep(key, data)
        if (!controller.signal.aborted) setState({ data, path: key, error: null, isLoading: false })
      } catch (error) {
        if (!isAbort(error)) setState((old) => ({ ...old, error, isLoading: false }))
      }
    }
    void run()
    return () => controller.abort()
  }, [key, round, Math.max(connected, 1), usedToken])
  return { ...state, reload: () => setRound((old) => old + 1) }
}

/** Calls `act` some time after events of these types: bursts become one call, with what each of them says. */
export function useLive(types: readonly LiveType[], act: (events: readonly LiveEvent[]) => void, delayMs = 400): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null
    let heard: LiveEvent[] = []
    const stops = types.map((type) =>
      onLive(type, (event) => {
        heard.push(event)
        timer ??= setTimeout(() => {
          timer = null
          latest.current(heard)
          heard = []
        }, delayMs)
      }),
    )
    return () => {
      for (const stop of stops) stop()
      if (timer !== null) clearTimeout(timer)
    }
  }, [])
}

const typesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Handles plain keys outside of fields. The handler returns true if it used the key. */
export function useKeys(handle: (key: string, event: KeyboardEvent) => boolean | undefined): void {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (typesText(event.target) || document.querySelector('dialog[open]') !== null) return
      if (latest.current(event.key, event) === true) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** Null leaves the title to another part of the screen. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) document.title = title === '' ? 'cursordex' : `${title} · cursordex`
  }, [title])
}
