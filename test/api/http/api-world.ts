import { join } from 'node:path'
import { createApp } from '../../../src/api/http/app.ts'
import { CursorHome, headers } from '../../helpers/cursor.ts'
import { archivesHere } from '../../helpers/archives-here.ts'
import { writeAllEras } from '../../helpers/eras/all-eras.ts'
import { GitRepository } from '../../helpers/git-repository.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { PurgeHere } from '../../helpers/purge-world.ts'
import { contextOver, HOST } from './test-api.ts'

/** The present time of the world. */
export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')
const at = (minutes: number): number => NOW_MS - 3_600_000 + minutes * 60_000

export const USAGE_FILE = [
  'Date,Kind,Model,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost',
  '"2026-03-01T11:06:00.000Z","Included","claude-4.5-sonnet","0","900","100","40","1040","0.02"',
].join('\n')

/**
 * The real app on a mirror of a small project with a repository. Only the daemon around it is fake. With `eras`, the
 * mirror also has what every version of Cursor wrote.
 */
export class ApiWorld {
  readonly home = new CursorHome()
  readonly repository = new GitRepository(join(this.home.root, 'shop'))
  readonly indexer = new Indexer(this.home.userDir)
  readonly faults: unknown[] = []
  readonly #app

  /** A world whose chats are read. */
  static async open(options: { readonly eras?: boolean } = {}): Promise<ApiWorld> {
    const world = new ApiWorld(options)
    await world.indexer.pass('keys')
    return world
  }

  private constructor({ eras = false } = {}) {
    const cursorHome = join(this.home.root, '.cursor')
    this.indexer.homes = [cursorHome]
    this.indexer.now = () => NOW_MS
    this.#writeShop()
    if (eras) writeAllEras(this.home, cursorHome)
    const { indexer } = this
    const archives = archivesHere(indexer.folder, indexer.path, indexer.mirror)
    const mirror = () => indexer.mirror
    this.#app = createApp({
      ...contextOver(indexer.path, mirror, mirror),
      startedAt: '2026-03-01T11:00:00.000Z',
      now: () => NOW_MS,
      archives,
      purging: new PurgeHere(indexer.folder, { archives }).purging,
      subscribe: () => () => undefined,
      reportFault: (error) => this.faults.push(error),
    })
  }

  /** A chat that led to a commit, with every common kind of part, and a project of its own. */
  #writeShop(): void {
    const store = this.home.global()
    this.home.workspace('shop', { folder: `file://${this.repository.root}` }, ['login'])
    store.chat('login', {
      name: 'Fix the login',
      createdAt: at(0),
      lastUpdatedAt: at(6),
      fullConversationHeadersOnly: headers(['ask', 'answer', 'edit']),
    })
    store.message('login', 'ask', {
      type: 1,
      text: 'Why does the login fail after a restart?',
      createdAt: new Date(at(1)).toISOString(),
    })
    store.message('login', 'answer', {
      type: 2,
      text: 'The session is read before it is written.',
      createdAt: new Date(at(2)).toISOString(),
      tokenCount: { inputTokens: 900, outputTokens: 40 },
      modelInfo: { modelName: 'claude-4.5-sonnet' },
    })
    store.message('login', 'edit', {
      type: 2,
      text: '',
      createdAt: new Date(at(3)).toISOString(),
      toolFormerData: {
        name: 'edit_file',
        status: 'completed',
        toolCallId: 'call-1',
        rawArgs: JSON.stringify({ target_file: 'src/session.ts' }),
        params: JSON.stringify({ relativeWorkspacePath: 'src/session.ts' }),
        result: '{"ok":true}',
      },
    })
    this.repository.commit({ atMs: at(5), files: { 'src/session.ts': 'read()\n' }, subject: 'Write the session first' })
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headersOf = new Headers(init.headers)
    headersOf.set('host', HOST)
    return this.#app.request(path, { ...init, headers: headersOf })
  }

  /** Sends a request as a local program does. */
  async ask(method: string, path: string, body?: string, mediaType = 'application/json'): Promise<Response> {
    if (body === undefined) return this.request(path, { method })
    return this.request(path, { method, headers: { 'content-type': mediaType }, body })
  }

  remove(): void {
    this.indexer.remove()
    this.home.remove()
  }
}
