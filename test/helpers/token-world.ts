import { createApp } from '../../src/api/http/app.ts'
import type { ApiContext } from '../../src/api/context.ts'
import { answerQuestion } from '../../src/api/questions.ts'
import { CursorHome, headers } from './cursor.ts'
import { tokensAnswer } from '../../src/api/answers/tokens.ts'
import { liveOf } from '../system/hostile/values/still-world.ts'
import { importUsageFile } from './import-usage-file.ts'
import { Indexer } from './in-process.ts'

const HOST = '127.0.0.1:4870'

/** A generated Cursor home, indexed in the test's process, with token queries through the app. */
export class TokenWorld {
  readonly home = new CursorHome()
  readonly store = this.home.global()
  readonly indexer = new Indexer(this.home.userDir)
  readonly #app = createApp({
    version: '0',
    timeZone: 'UTC',
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => this.indexer.mirror,
    now: Date.now,
    live: () => liveOf(this.indexer.path),
    ask: async (question: Parameters<typeof answerQuestion>[1]) =>
      Promise.resolve(answerQuestion(this.indexer.mirror, question)),
    importUsage: (file: Parameters<typeof importUsageFile>[1]) => importUsageFile(this.indexer.mirror, file),
    reportFault: (error: unknown) => {
      throw error
    },
  } as unknown as ApiContext)

  /** Adds a chat with a question and an answer, which may have recorded counts. */
  async exchange(chat: string, answer: Readonly<Record<string, unknown>> = {}, facts: object = {}): Promise<void> {
    const [asked, told] = [`${chat}-1`, `${chat}-2`]
    this.store.message(chat, asked, { type: 1, text: 'q', createdAt: '2025-03-01T10:00:00.000Z' })
    this.store.message(chat, told, { type: 2, text: 'a', createdAt: '2025-03-01T10:01:00.000Z', ...answer })
    const createdAt = Date.parse('2025-03-01T10:00:00Z')
    this.store.chat(chat, { createdAt, fullConversationHeadersOnly: headers([asked, told]), ...facts })
    await this.indexer.pass('keys')
  }

  async ask(query = ''): Promise<Response> {
    return this.#app.request(`/api/tokens${query}`, { headers: { host: HOST } })
  }

  async told(query = ''): Promise<ReturnType<typeof tokensAnswer.parse>> {
    return tokensAnswer.parse(await (await this.ask(query)).json())
  }

  async import(csv: string): Promise<unknown> {
    const head = { host: HOST, 'content-type': 'text/csv' }
    const sent = { method: 'POST', body: csv, headers: head }
    return (await this.#app.request('/api/tokens/import', sent)).json()
  }

  remove(): void {
    this.indexer.remove()
    this.home.remove()
  }
}
