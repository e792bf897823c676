import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, isAbort, token } from './api.ts'
import { connections, onLive, type LiveType } from './live.ts'

export interface Loaded<T> {
  /** The last answer; it stays while the next one is loading. */
  readonly data: T | null
  /** The path that `data` answers. */
  readonly path: string | null
  readonly error: unknown
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Loads a path, and again when it changes or the daemon is back. Stale answers are dropped. Null loads nothing. */
export function useData<T>(
  path: string | null,
  load: (path: string, abort: AbortSignal) => Promise<T> = get,
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    data: null,
    path: null,
    error: null,
    isLoading: true,
  })
  const [round, setRound] = useState(0)
  const connected = connections.value
  const usedToken = token.value
  // Not `useEffect`: it waits for the next frame before the request is sent.
  useLayoutEffect(() => {
    if (path === null) return undefined
    const controller = new AbortController()
    setState((old) => ({ ...old, isLoading: true }))
    load(path, controller.signal).then(
      (data) => setState({ data, path, error: null, isLoading: false }),
      (error: unknown) => {
        if (!isAbort(error)) setState((old) => ({ ...old, error, isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [path, round, Math.max(connected, 1), usedToken])
  return { ...state, reload: () => setRound((old) => old + 1) }
}

/** Calls `act` some time after events of these types: bursts become one call. */
export function useLive(
  types: readonly LiveType[],
  act: (data: Readonly<Record<string, unknown>>) => void,
  delayMs = 400,
): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null
    const stops = types.map((type) =>
      onLive(type, (data) => {
        timer ??= setTimeout(() => {
          timer = null
          latest.current(data)
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

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'cursordex' : `${title} · cursordex`
  }, [title])
}
