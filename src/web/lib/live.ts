import { signal } from '@preact/signals'
import type { Project } from '../../api/answers/projects.ts'
import type { Status } from '../../api/answers/status.ts'
import { api, needsToken, token } from './api.ts'

export type LiveType = 'status' | 'chat' | 'message' | 'loss' | 'archive'
/** What an event says: the id of a chat, the message that was lost … */
export type LiveEvent = Readonly<Record<string, unknown>>
type Listener = (event: LiveEvent) => void

export const status = signal<Status | null>(null)
/** `gone`: the daemon does not answer. The page keeps trying. */
export const connection = signal<'connecting' | 'open' | 'gone'>('connecting')
/** The projects with chats, the last used first. */
export const projects = signal<readonly Project[]>([])
/** Grows with each new connection: data on the screen may be old then. */
export const connections = signal(0)

/** What an act of the field said last; null after it was read. */
export const said = signal<string | null>(null)

const listeners = new Map<LiveType, Set<Listener>>()

/** @returns the function that ends the subscription */
export function onLive(type: LiveType, listener: Listener): () => void {
  const set = listeners.get(type) ?? new Set()
  listeners.set(type, set.add(listener))
  return () => set.delete(listener)
}

const RETRY_MS = 600
const STATUS_EVERY_MS = 1000

export function startLive(): void {
  void follow()
  setInterval(() => {
    const isBusy = status.value?.state === 'indexing' || status.value?.state === 'starting'
    if (isBusy && connection.value === 'open' && !document.hidden) void readStatus()
  }, STATUS_EVERY_MS)
}

async function follow(): Promise<never> {
  for (;;) {
    const usedToken = token.value
    try {
      // `EventSource` cannot send a token, so the stream is read with `fetch`.
      const response = await api.open('/api/events')
      connection.value = 'open'
      connections.value += 1
      void readStatus()
      if (response.body !== null) await readEvents(response.body)
    } catch {
      // Asked again below.
    }
    if (!needsToken.value) connection.value = 'gone'
    // Without the right token nothing is asked until another one is there.
    do await pause(RETRY_MS)
    while (needsToken.value && token.value === usedToken)
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) hear(block)
  }
}

function hear(block: string): void {
  const type = /^event: (.*)$/m.exec(block)?.[1] as LiveType | undefined
  const data = /^data: (.*)$/m.exec(block)?.[1]
  if (type === undefined || data === undefined) return
  if (type === 'status') void readStatus()
  const parsed = JSON.parse(data) as LiveEvent
  for (const listener of listeners.get(type) ?? []) listener(parsed)
}

let isReading = false

/** At most one request at a time: events may come in bursts. */
async function readStatus(): Promise<void> {
  if (isReading) return
  isReading = true
  try {
    status.value = await api.get('/api/status')
  } catch {
    // The stream of events ends too, and says so.
  } finally {
    isReading = false
  }
}
