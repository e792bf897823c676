import { join } from 'node:path'
import { createApp } from '../../src/api/http/app.ts'
import { archivesHere } from './archives-here.ts'
import { answerQuestion } from '../../src/api/questions.ts'
import { Histories } from '../../src/git/histories.ts'
import { CursorHome, headers, toolData } from './cursor.ts'
import { liveOf } from '../system/hostile/values/still-world.ts'
import { TrackingStore } from './eras/tracking.ts'
import { Indexer } from './in-process.ts'

export interface Act {
  /** Epoch milliseconds; null if Cursor wrote no time. */
  readonly atMs: number | null
  /** Absolute, or relative to the project's root. If omitted, the message has only text. */
  readonly edits?: string
  readonly reads?: string
  /** Status of the edit; completed by default. */
  readonly isRejected?: boolean
}

export interface PlannedChat {
  readonly id: string
  readonly acts: readonly Act[]
  /** Name of the project, as passed to `addProject`. */
  readonly project: string
  readonly title?: string
  readonly branch?: string
  readonly createdAtMs?: number
  readonly parentId?: string
  /** When Cursor recorded code of the chat, in epoch milliseconds. */
  readonly trackedMs?: readonly number[]
}

export interface ReportedMatch {
  readonly id: string
  readonly confidence: 'low' | 'medium' | 'high'
  readonly score: number
  readonly evidence: {
    readonly time: { readonly messages: number | null; readonly from: string; readonly to: string } | null
    readonly branch: string | null
    readonly files: { readonly paths: string[]; readonly share: number; readonly when: string } | null
    readonly tracking: { readonly from: string; readonly to: string } | null
    readonly editedElsewhere: boolean
  }
}

export interface ReportedCommit {
  readonly sha: string
  readonly subject: string
  readonly committedAt: string | null
  readonly authoredAt: string | null
  readonly filesChanged: number | null
  readonly project: { readonly name: string }
  readonly chats: readonly ReportedMatch[]
}

export interface CommitsAnswer {
  readonly items: readonly ReportedCommit[]
  readonly total: number
  readonly warnings: readonly string[]
}

const HOST = '127.0.0.1:4870'

/** Chats written like Cursor does, indexed, and queried through the real app, which calls the real git. */
export class CommitWorld {
  readonly home = new CursorHome()
  readonly indexer = new Indexer(this.home.userDir)
  readonly faults: Error[] = []
  readonly #store = this.home.global()
  readonly #histories = new Histories(process.env)
  readonly #chats = new Map<string, string[]>()
  readonly #app = createApp({
    version: '1.2.3',
    timeZone: 'UTC',
    access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
    mirror: () => this.indexer.mirror,
    now: () => Date.now(),
    ask: async (question) => answerQuestion(this.indexer.mirror, question, 60_000),
    live: () => liveOf(this.indexer.path),
    histories: this.#histories,
    archives: archivesHere(this.home.root, this.indexer.path),
    sync: async () => ({ changed: 0, added: 0, gone: 0, tookMs: 0, reasons: [] }),
    subscribe: () => () => undefined,
    reportFault: (error) => this.faults.push(error instanceof Error ? error : new Error(String(error))),
  })

  /**
   * @param roots the root URI of each project, by a name that the test chooses
   * @param scored number of chat lines that Cursor found in each commit, by sha
   */
  index(
    roots: Readonly<Record<string, string>>,
    chats: readonly PlannedChat[],
    scored: Readonly<Record<string, number | null>> = {},
  ): void {
    this.#track(chats, scored)
    this.#store.db.transaction(() => {
      for (const chat of chats) this.#write(chat)
    })()
    for (const [name, folder] of Object.entries(roots)) {
      this.home.workspace(`ws-${name}`, { folder }, this.#chats.get(name) ?? [])
    }
    this.indexer.pass('reconcile')
  }

  #track(chats: readonly PlannedChat[], scored: Readonly<Record<string, number | null>>): void {
    const home = join(this.home.root, '.cursor')
    const store = new TrackingStore(home)
    for (const { id, trackedMs = [] } of chats) {
      for (const timestamp of trackedMs) store.record({ conversationId: id, timestamp })
    }
    for (const [sha, lines] of Object.entries(scored)) store.score(sha, lines)
    store.close()
    this.indexer.homes = [home]
  }

  async ask(path: string): Promise<Response> {
    const response = await this.#app.request(path, { headers: { host: HOST } })
    const [fault] = this.faults
    if (fault !== undefined) throw fault
    return response
  }

  async commits(query: Readonly<Record<string, string>>): Promise<CommitsAnswer> {
    const response = await this.ask(`/api/commits?${new URLSearchParams({ limit: '200', ...query }).toString()}`)
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()) as CommitsAnswer
  }

  remove(): void {
    this.#histories.close()
    this.indexer.remove()
    this.home.remove()
  }

  #write({ id, acts, project, title = `Chat ${id}`, branch, createdAtMs, parentId }: PlannedChat): void {
    const ids = acts.map((_, index) => `${id}-m${index}`)
    for (const [index, act] of acts.entries()) this.#store.message(id, ids[index] ?? '', messageOf(act, index))
    const times = acts.flatMap(({ atMs }) => atMs ?? [])
    this.#store.chat(id, {
      name: title,
      createdAt: createdAtMs ?? times[0],
      lastUpdatedAt: times.at(-1) ?? createdAtMs,
      fullConversationHeadersOnly: headers(ids),
      ...(branch === undefined ? {} : { createdOnBranch: branch }),
      ...(parentId === undefined ? {} : { subagentInfo: { parentComposerId: parentId } }),
    })
    this.#chats.set(project, [...(this.#chats.get(project) ?? []), id])
  }
}

function messageOf({ atMs, edits, reads, isRejected }: Act, index: number): Record<string, unknown> {
  const createdAt = atMs === null ? {} : { createdAt: new Date(atMs).toISOString() }
  const ending = isRejected === true ? { kind: 'rejected' as const } : { kind: 'completed' as const }
  const act =
    edits !== undefined
      ? { name: 'edit' as const, path: edits, lines: ['+new'] }
      : reads !== undefined
        ? { name: 'read' as const, path: reads, contents: 'old' }
        : null
  if (act === null) return { type: index % 2 === 0 ? 1 : 2, text: `words ${index}`, ...createdAt }
  const toolFormerData = toolData({ kind: 'tool', act, ending }, 'new', `call-${index}`)
  return { type: 2, text: '', capabilityType: 15, toolFormerData, ...createdAt }
}
