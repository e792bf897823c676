import type { SearchAnswer } from '../../../src/api/answers/search.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

export interface SaidMessage {
  readonly id: string
  readonly text?: string
  readonly role?: 'user' | 'assistant'
  /** Epoch milliseconds; null if Cursor wrote no time. */
  readonly atMs?: number | null
  /** It is not in the list of its chat. */
  readonly isOrphan?: boolean
  /** More of the message as Cursor writes it. */
  readonly row?: Readonly<Record<string, unknown>>
}

export interface SaidChat {
  readonly id: string
  readonly title?: string
  /** Name of a folder in the root. */
  readonly project?: string
  /** More of the chat as Cursor writes it. */
  readonly row?: Readonly<Record<string, unknown>>
  readonly messages: readonly SaidMessage[]
}

/** Parameters of a search. */
export type Asking = Readonly<Record<string, string | number | boolean | readonly string[]>>

const DAY_MS = 86_400_000
export const MONDAY_MS = Date.UTC(2026, 0, 5)

/** A call of a tool as Cursor writes it. */
export function called(name: string, params: unknown, result: unknown, status = 'completed'): Record<string, unknown> {
  const toolFormerData = {
    name,
    toolCallId: `call-${name}`,
    status,
    params: JSON.stringify(params),
    result: JSON.stringify(result),
  }
  return { toolFormerData }
}

/** One chat with one message per text, a day apart: `m0`, `m1`, … */
export function chatOf(texts: readonly string[], id = 'chat'): SaidChat {
  return { id, messages: texts.map((text, index) => ({ id: `m${index}`, text, atMs: MONDAY_MS + index * DAY_MS })) }
}

/** A world with chats to search, asked by HTTP. */
export class Searched {
  readonly world: World

  private constructor(world: World) {
    this.world = world
  }

  static async of(chats: readonly SaidChat[], config: Readonly<Record<string, unknown>> = {}): Promise<Searched> {
    const searched = new Searched(await World.open({ config }))
    await searched.add(chats)
    return searched
  }

  async add(chats: readonly SaidChat[]): Promise<void> {
    const { home } = this.world
    const store = home.global()
    const projects = new Map<string, string[]>()
    store.db.transaction(() => {
      for (const { id, title = 'Untitled chat', project, row, messages } of chats) {
        if (project !== undefined) projects.set(project, [...(projects.get(project) ?? []), id])
        const listed = messages.filter(({ isOrphan }) => isOrphan !== true).map((message) => message.id)
        store.chat(id, { name: title, fullConversationHeadersOnly: headers(listed), ...row })
        for (const message of messages) store.message(id, message.id, rowOf(message))
      }
    })()
    for (const [name, ids] of projects) home.workspace(`of-${name}`, { folder: `file:///${name}` }, ids)
    await this.world.sync()
  }

  async ask(q: string, more: Asking = {}): Promise<SearchAnswer> {
    const given: Asking = { q, ...more }
    const parameters = Object.entries(given).flatMap(([name, value]): [string, string][] =>
      typeof value === 'object' && name !== 'facets'
        ? value.map((each): [string, string] => [name, each])
        : [[name, String(value)]],
    )
    return this.world.get(`/api/search?${new URLSearchParams(parameters).toString()}`)
  }

  /** The messages that a search finds, in its order. */
  async ids(q: string, more: Asking = {}): Promise<string[]> {
    return (await this.ask(q, more)).items.map(({ message }) => message.id)
  }

  /** The same, sorted. */
  async found(q: string, more: Asking = {}): Promise<string[]> {
    return (await this.ids(q, { limit: 200, ...more })).sort()
  }

  async remove(): Promise<void> {
    await this.world.remove()
  }
}

function rowOf({ text = '', role = 'user', atMs = null, row }: SaidMessage): Record<string, unknown> {
  const createdAt = atMs === null ? {} : { createdAt: new Date(atMs).toISOString() }
  return { type: role === 'user' ? 1 : 2, text, ...createdAt, ...row }
}
