import { dirname } from 'node:path'
import { archivesHere } from '../../../helpers/archives-here.ts'
import { createApp } from '../../../../src/api/http/app.ts'
import { exportFormats } from '../../../../src/api/export/formats.ts'
import { answerQuestion } from '../../../../src/api/questions.ts'
import { Histories } from '../../../../src/git/histories.ts'
import { openReader, type Mirror } from '../../../../src/mirror/open.ts'
import { ArchiveFolder } from '../../../helpers/archive-folder.ts'
import { HOST, liveOf } from './still-world.ts'

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
  readonly faults: readonly string[]
}

/** A time far in the future of every test. */
const DEADLINE_MS = 600_000

/**
 * Reads every chat and message of a mirror over HTTP, exports each chat, and searches for the words of each message.
 * @param isThorough also exports chats of one message in every format, and not in one format each
 */
export async function askEverything(mirrorPath: string, isThorough: boolean): Promise<Asked> {
  const reader = openReader(mirrorPath)
  const faults: string[] = []
  const app = createApp({
    version: '1.2.3',
    timeZone: 'UTC',
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => reader,
    now: () => Date.now(),
    ask: async (question) => answerQuestion(reader, question, DEADLINE_MS),
    histories: new Histories({}),
    live: () => liveOf(mirrorPath),
    sync: async () => ({ changed: 0, added: 0, gone: 0, tookMs: 0, reasons: [] }),
    archives: archivesHere(dirname(mirrorPath), mirrorPath),
    subscribe: () => () => undefined,
    reportFault: (error) => faults.push(error instanceof Error ? String(error.stack) : String(error)),
  })
  const visitor = new Visitor(async (path) => app.request(path, { headers: { host: HOST } }), faults)
  try {
    for (const path of ['/openapi.json', '/api/status']) await visitor.text(path)
    faults.push(...(await archiveAll(reader)))
    await visitor.each('/api/projects', async ({ id }) => void (await visitor.text(`/api/projects/${named(id)}`)))
    await visitor.each('/api/chats?includeEmpty=true&subagents=true', ({ id }) => visitor.chat(id, isThorough))
    return { messages: visitor.messages, answers: visitor.answers, faults }
  } finally {
    reader.close()
  }
}

/** Everything in a mirror can be archived and read back. */
async function archiveAll(reader: Mirror): Promise<string[]> {
  const folder = new ArchiveFolder()
  try {
    await folder.run(reader)
    return folder.verify().ok ? [] : ['an archive is not what was archived']
  } catch (error) {
    return [`an archive cannot be made: ${String(error)}`]
  } finally {
    folder.remove()
  }
}

const named = (id: string): string => encodeURIComponent(id)

class Visitor {
  messages = 0
  answers = 0
  #chats = 0
  readonly #searched = new Set<string>()
  readonly #ask: (path: string) => Promise<Response>
  readonly #faults: string[]
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })

  constructor(ask: (path: string) => Promise<Response>, faults: string[]) {
    this.#ask = ask
    this.#faults = faults
  }

  async text(path: string): Promise<string> {
    this.answers += 1
    try {
      const response = await this.#ask(path)
      const text = this.#decoder.decode(await response.arrayBuffer())
      if (!response.ok) this.#faults.push(`${path.slice(0, 300)} answered ${response.status}: ${text.slice(0, 300)}`)
      return text
    } catch (error) {
      this.#faults.push(`${path.slice(0, 300)} broke off: ${String(error)}`)
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
    const words = parts.map(({ text }) => text).find((text) => typeof text === 'string') ?? JSON.stringify(parts)
    const q = words.slice(0, 60).toWellFormed()
    if (this.#searched.has(q)) return
    this.#searched.add(q)
    await this.text(`/api/search?${new URLSearchParams({ q, limit: '1' }).toString()}`)
  }
}
