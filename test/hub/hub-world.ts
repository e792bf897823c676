import { gunzipSync } from 'node:zlib'
import { withHub } from '../../src/hub/client.ts'
import { forget, grant, initHub, revoke } from '../../src/hub/administer.ts'
import { headers } from '../helpers/cursor.ts'
import { Machine } from './machine.ts'
import { PgServer } from './pg-server.ts'

const START_MS = Date.UTC(2026, 1, 3, 8)

/** A server with a hub, and machines. */
export class HubWorld {
  readonly server: PgServer
  readonly machines: Machine[] = []
  url = ''

  private constructor(server: PgServer) {
    this.server = server
  }

  static async start(): Promise<HubWorld> {
    return new HubWorld(await PgServer.start())
  }

  /** An empty hub. */
  async renew(): Promise<string> {
    this.clear()
    this.url = await this.server.database('hub')
    await this.init()
    return this.url
  }

  /** @param user the role; the owner by default */
  machine(label: string, user = 'admin', more: ConstructorParameters<typeof Machine>[2] = {}): Machine {
    const machine = new Machine(this.server.url('hub', user), label, more)
    this.machines.push(machine)
    return machine
  }

  /** Makes the tables of the hub. @returns the version of its schema */
  init(): Promise<number> {
    return withHub(this.url, initHub)
  }

  grant(role: string, read: readonly string[], push: readonly string[] = []): ReturnType<typeof grant> {
    return withHub(this.url, (hub) => grant(hub, { role, read, push }))
  }

  async revoke(role: string): Promise<void> {
    await withHub(this.url, (hub) => revoke(hub, role))
  }

  forget(what: Parameters<typeof forget>[1]): Promise<number> {
    return withHub(this.url, (hub) => forget(hub, what))
  }

  /** The texts of all objects. */
  async objects(where = 'true'): Promise<string[]> {
    const rows = await this.server.sql<{ object: Buffer }>(
      `select object from cursordex.chats where ${where} order by machine, chat`,
      this.url,
    )
    return rows.map(({ object }) => gunzipSync(object).toString())
  }

  async count(table = 'chats'): Promise<number> {
    const rows = await this.server.sql<{ count: number }>(`select count(*)::int from cursordex.${table}`, this.url)
    return rows[0]?.count ?? 0
  }

  clear(): void {
    for (const machine of this.machines.splice(0)) machine.remove()
  }

  async remove(): Promise<void> {
    this.clear()
    await this.server.remove()
  }
}

/** Writes a chat with these messages to a machine's Cursor. Its messages are a minute apart. */
export function write(
  machine: Machine,
  chat: string,
  texts: readonly string[],
  { project, atMs = START_MS }: { readonly project?: string; readonly atMs?: number } = {},
): void {
  const store = machine.home.global()
  const ids = texts.map((_, at) => `${chat}-${at}`)
  const folder =
    project === undefined
      ? {}
      : {
          workspaceIdentifier: {
            id: `w-${project}`,
            uri: { fsPath: project, path: project, scheme: 'file', external: `file://${project}` },
          },
        }
  store.chat(chat, { name: `Chat ${chat}`, createdAt: atMs, fullConversationHeadersOnly: headers(ids), ...folder })
  for (const [at, text] of texts.entries()) {
    const createdAt = new Date(atMs + at * 60_000).toISOString()
    store.message(chat, ids[at] ?? '', { _v: 3, type: (at % 2) + 1, text, createdAt })
  }
  store.close()
}

export async function say(
  machine: Machine,
  ...given: Parameters<typeof write> extends [unknown, ...infer Rest] ? Rest : never
): Promise<void> {
  write(machine, ...given)
  await machine.sync()
}

/** Two machines of one role push while a third one pulls. @returns what the third has in the end, and what it should have */
export async function pushTogether(
  world: HubWorld,
  rounds: number,
): Promise<{ readonly words: readonly string[]; readonly expected: readonly string[] }> {
  const [ada, bob, eve] = [world.machine('ada'), world.machine('bob'), world.machine('eve')]
  await eve.sync()
  for (let round = 0; round < rounds; round += 1) {
    if (round % 5 === 0) {
      await say(ada, `a-${round % 50}`, [`round ${round} of ada`])
      await say(bob, `b-${round % 50}`, [`round ${round} of bob`])
    }
    await Promise.all([ada.push(), bob.push(), eve.pull()])
  }
  await eve.pull()
  return { words: eve.words(), expected: [...ada.words(), ...bob.words()].sort() }
}
