import { exportFormats } from '../../../../src/api/export/formats.ts'
import { archiveAll } from '../../../helpers/restored-daemon.ts'
import type { World } from '../../../helpers/world.ts'

interface List<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

interface MessageAnswer {
  readonly parts: readonly { readonly kind: string; readonly text?: unknown }[]
}

export interface Asked {
  readonly messages: number
  readonly answers: number
  /** The texts of all messages. */
  readonly texts: ReadonlySet<string>
  readonly faults: readonly string[]
}

/**
 * Reads every chat and message of a world over HTTP, exports each chat, and searches for the words of each message.
 * @param isThorough also exports chats of one message in every format, and not in one format each
 */
export async function askEverything(world: World, isThorough: boolean): Promise<Asked> {
  const visitor = new Visitor(world)
  for (const path of ['/openapi.json', '/api/status']) await visitor.text(path)
  // Everything that is held can be archived and read back.
  const { state, error } = await archiveAll(world)
  if (state !== 'verified') visitor.faults.push(`an archive is ${state}: ${error}`)
  await visitor.each('/api/projects', async ({ id }) => void (await visitor.text(`/api/projects/${named(id)}`)))
  await visitor.each('/api/chats?includeEmpty=true&subagents=true', ({ id }) => visitor.chat(id, isThorough))
  return visitor
}

const named = (id: string): string => encodeURIComponent(id)

class Visitor implements Asked {
  messages = 0
  answers = 0
  readonly texts = new Set<string>()
  readonly faults: string[] = []
  #chats = 0
  readonly #searched = new Set<string>()
  readonly #world: World
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  constructor(world: World) {
    this.#world = world
  }

  async text(path: string): Promise<string> {
    this.answers += 1
    try {
      const response = await this.#world.request(path)
      const text = this.#decoder.decode(await response.arrayBuffer())
      if (!response.ok) this.faults.push(`${path.slice(0, 300)} answered ${response.status}: ${text.slice(0, 300)}`)
      return text
    } catch (error) {
      this.faults.push(`${path.slice(0, 300)} broke off: ${String(error)}`)
      return ''
    }
  }

  async each(path: string, visit: (item: { readonly id: string }) => Promise<void>): Promise<void> {
    for (let offset = 0, total = 1; offset < total; offset += 200) {
      const text = await this.text(`${path}${path.includes('?') ? '&' : '?'}limit=200&offset=${offset}`)
      const page = JSON.parse(text || '{"items":[],"total":0}') as List<{ readonly id: string }>
      total = page.total
      // Several at once: an export pauses between its parts, so that others can run.
      for (let at = 0; at < page.items.length; at += 16) await Promise.all(page.items.slice(at, at + 16).map(visit))
    }
  }

  async chat(id: string, isThorough: boolean): Promise<void> {
    const path = `/api/chats/${named(id)}`
    // A client resolves these two as path segments.
    if (id === '.' || id === '..') return
    await this.text(path)
    let count = 0
    await this.each(`${path}/messages?includeOrphans=true`, async (message) => {
      count += 1
      await this.#search(message as unknown as MessageAnswer)
    })
    this.messages += count
    this.#chats += 1
    const turn = this.#chats % exportFormats.length
    for (const [at, as] of exportFormats.entries()) {
      if (isThorough || count > 1 || at === turn) await this.#export(`${path}/export?as=${as}&includeOrphans=true`, as)
    }
  }

  async #export(path: string, as: string): Promise<void> {
    const text = await this.text(path)
    if (as === 'json') JSON.parse(text || 'null')
    if (as === 'jsonl') for (const line of text.split('\n').filter((each) => each !== '')) JSON.parse(line)
  }

  /** Searches for the first words of the message. The same words are searched once. */
  async #search({ parts }: MessageAnswer): Promise<void> {
    for (const { text } of parts) if (typeof text === 'string') this.texts.add(text)
    const words = parts.map(({ text }) => text).find((text) => typeof text === 'string') ?? JSON.stringify(parts)
    const q = words.slice(0, 60).toWellFormed()
    if (this.#searched.has(q)) return
    this.#searched.add(q)
    await this.text(`/api/search?${new URLSearchParams({ q, limit: '1' }).toString()}`)
  }
}
