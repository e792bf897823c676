import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { addressOf } from '../../shared/client.ts'
import { type AnswerOf, api, type Asked, type GetPath, getList, isAbort, type ListPath, token } from './api.ts'
import { connections, type LiveEvent, onLive, type LiveType } from './live.ts'

export interface Loaded<T> {
  /** The last answer; it stays while the next one is loading. */
  readonly data: T | null
  readonly error: unknown
  readonly reload: () => void
}

/** Answers that are shown at once when one comes back to their address, while they are asked for again. */
const answers = new Map<string, unknown>()
const KEPT_MAX = 40

/** Keeps a value as the newest, and no more than 40 of them. */
export function keep<Value>(kept: Map<string, Value>, key: string, value: Value): Value {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  return value
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

/** Loads one thing at a time: a newer one ends the one before, and so does the end of the screen. */
export function useLoader() {
  const [error, setError] = useState<unknown>(null)
  const [isLoading, setLoading] = useState(true)
  const running = useRef<AbortController | null>(null)
  const load = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setLoading(true)
    try {
      await work(controller.signal)
      setError(null)
    } catch (caught) {
      if (!isAbort(caught)) setError(caught)
    }
    if (running.current !== controller) return
    running.current = null
    setLoading(false)
  }
  useEffect(() => () => running.current?.abort(), [])
  return { error, isLoading, load, isBusy: () => running.current !== null }
}

/** Changes when what was loaded must be loaded again: the daemon came back, or another token is used. */
export const useServer = (): string => `${Math.max(connections.value, 1)} ${token.value}`

/** @param key stands for what is loaded; null loads nothing */
export function useLoaded<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const { error, load } = useLoader()
  const [last, setLast] = useState<T | null>(null)
  const [round, setRound] = useState(0)
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    if (key === null) return
    void load(async (signal) => {
      const data = await ask(signal)
      keep(answers, key, data)
      if (!signal.aborted) setLast(data)
    })
  }, [key, round, useServer()])
  // What is known of the address is shown in the same frame.
  const data = key === null ? null : ((answers.get(key) as T | undefined) ?? last)
  return { data, error, reload: () => setRound((old) => old + 1) }
}

/** Calls `act` some time after events of this type: bursts become one call, with what each of them says. */
export function useLive(type: LiveType, act: (events: readonly LiveEvent[]) => void, delayMs = 400): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let heard: LiveEvent[] = []
    const stop = onLive(type, (event) => {
      heard.push(event)
      timer ??= setTimeout(() => {
        timer = undefined
        latest.current(heard)
        heard = []
      }, delayMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/** Whether letters are typed there. */
export const typesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Handles keys, wherever they are pressed. The handler returns true if it used the key. */
export function useKeyDown(handle: (event: KeyboardEvent) => boolean | undefined): void {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (latest.current(event) === true) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

/** Like `useKeyDown`, for plain keys outside of fields. */
export const useKeys = (handle: (key: string) => boolean | undefined): void =>
  useKeyDown((event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
    if (typesText(event.target) || document.querySelector('dialog[open]') !== null) return false
    return handle(event.key)
  })

/** Null leaves the title to another part of the screen. */
export function useTitle(title: string | null): void {
  useEffect(() => {
    if (title !== null) document.title = title === '' ? 'cursordex' : `${title} · cursordex`
  }, [title])
}
