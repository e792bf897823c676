import type { CommitReport } from '../../src/api/answers/chats.ts'
import { headers, toolData, type Store } from './cursor.ts'
import { TrackingStore } from './eras/tracking.ts'
import { World } from './world.ts'

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
  readonly createdAtMs?: number
  readonly parentId?: string
  /** When Cursor recorded code of the chat, in epoch milliseconds. */
  readonly trackedMs?: readonly number[]
}

/** Chats written like Cursor does, indexed, and queried by HTTP, which calls the real git. */
export class CommitWorld {
  readonly #world: World
  readonly #chats = new Map<string, string[]>()

  private constructor(world: World) {
    this.#world = world
  }

  static async open(): Promise<CommitWorld> {
    return new CommitWorld(await World.open())
  }

  /**
   * @param roots the root URI of each project, by a name that the test chooses
   * @param scored number of chat lines that Cursor found in each commit, by sha
   */
  async index(
    roots: Readonly<Record<string, string>>,
    chats: readonly PlannedChat[],
    scored: Readonly<Record<string, number | null>> = {},
  ): Promise<void> {
    const { home } = this.#world
    const tracking = new TrackingStore(this.#world.cursorHome)
    for (const { id, trackedMs = [] } of chats) {
      for (const timestamp of trackedMs) tracking.record({ conversationId: id, timestamp })
    }
    for (const [sha, lines] of Object.entries(scored)) tracking.score(sha, lines)
    tracking.close()
    const store = home.global()
    store.db.transaction(() => {
      for (const chat of chats) this.#write(store, chat)
    })()
    for (const [name, folder] of Object.entries(roots)) {
      home.workspace(`ws-${name}`, { folder }, this.#chats.get(name) ?? [])
    }
    await this.#world.sync()
  }

  async ask(path: string): Promise<Response> {
    return this.#world.request(path)
  }

  async commits(query: Readonly<Record<string, string>>): Promise<CommitReport> {
    return this.#world.get(`/api/commits?${new URLSearchParams({ limit: '200', ...query }).toString()}`)
  }

  async remove(): Promise<void> {
    await this.#world.remove()
  }

  #write(store: Store, { id, acts, project, title = `Chat ${id}`, createdAtMs, parentId }: PlannedChat): void {
    const ids = acts.map((_, index) => `${id}-m${index}`)
    for (const [index, act] of acts.entries()) store.message(id, ids[index] ?? '', messageOf(act, index))
    const times = acts.flatMap(({ atMs }) => atMs ?? [])
    store.chat(id, {
      name: title,
      createdAt: createdAtMs ?? times[0],
      lastUpdatedAt: times.at(-1) ?? createdAtMs,
      fullConversationHeadersOnly: headers(ids),
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
