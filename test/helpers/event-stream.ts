import { waitUntil } from './wait-until.ts'

/** What a daemon tells at `/api/events` from now on. */
export class EventStream {
  text = ''
  readonly #abort = new AbortController()
  #reading: Promise<void> | undefined

  /** Resolves when the first event has come: then none is missed. */
  static async open(url: string): Promise<EventStream> {
    const stream = new EventStream()
    const { body } = await fetch(`${url}/api/events`, { signal: stream.#abort.signal })
    const read = async (): Promise<void> => {
      const decoder = new TextDecoder()
      for await (const bytes of body ?? []) stream.text += decoder.decode(bytes as Uint8Array, { stream: true })
    }
    stream.#reading = read().catch(() => undefined)
    await waitUntil('the first event', () => stream.text.includes('event: status'))
    return stream
  }

  /** The data of each event of this type so far. */
  data(type: string): unknown[] {
    const events = this.text.matchAll(new RegExp(`event: ${type}\\ndata: (.*)\\n`, 'g'))
    return [...events].map(([, json]) => JSON.parse(json ?? 'null') as unknown)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#reading
  }
}
