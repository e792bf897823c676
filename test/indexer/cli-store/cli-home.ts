import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PassDepth, PassEnd, Source } from '../../../src/indexer/source.ts'
import { cliStoreSources } from '../../../src/indexer/sources/cli-store/index.ts'
import { openWriter, type Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { cliFolder, CliStore, encodeState, type JournalMode, type StatePlan } from '../../helpers/cursor.ts'
import { cliRoot } from '../../helpers/eras/cli-store.ts'

interface Passed {
  added: number
  changed: number
  gone: number
  bytesRead: number
  readonly ends: PassEnd[]
}

interface Held {
  readonly id: string
  readonly role: string
  readonly parts: readonly Part[]
  readonly position: number | null
  readonly isLive: number
}

/** A home of Cursor's with stores of the command line, and a mirror beside it. */
export class CliHome {
  readonly root = mkdtempSync(join(tmpdir(), 'cursordex-cli-'))
  readonly path = join(this.root, '.cursor')
  readonly mirrorPath = join(this.root, 'mirror', 'mirror.db')
  mirror: Mirror = openWriter(this.mirrorPath)
  readonly #stores: CliStore[] = []

  constructor() {
    mkdirSync(this.path)
  }

  /** An empty store of a chat that was started in this folder. */
  store(
    chatId: string,
    { cwd = cliRoot, mode }: { readonly cwd?: string; readonly mode?: JournalMode } = {},
  ): CliStore {
    const store = new CliStore(cliFolder(this.path, cwd, chatId), mode)
    this.#stores.push(store)
    return store
  }

  /**
   * A store of a chat with these messages.
   * @returns the store, still open
   */
  chat(chatId: string, messages: readonly unknown[], more: object = {}): CliStore {
    const store = this.store(chatId)
    this.say(store, { entries: messages.map((message) => store.blob(message)) }, more)
    return store
  }

  /**
   * Makes this the store's newest state.
   * @returns the id of its root
   */
  say(store: CliStore, plan: StatePlan, more: object = {}): string {
    const root = store.blob(encodeState(plan))
    store.facts({ agentId: 'a', latestRootBlobId: root, name: 'New Agent', ...more })
    return root
  }

  /** Closes every store, as the command line does when it ends. */
  close(): void {
    for (const store of this.#stores.splice(0)) store.close()
  }

  get sources(): Source[] {
    return cliStoreSources(this.path)
  }

  pass(depth: PassDepth = 'nudge', sources: readonly Source[] = this.sources): Passed {
    const passed: Passed = { added: 0, changed: 0, gone: 0, bytesRead: 0, ends: [] }
    for (const source of sources) {
      const steps = source.pass(this.mirror, { depth, now: Date.now })
      for (let next = steps.next(); ; next = steps.next()) {
        if (next.done === true) {
          passed.ends.push(next.value)
          break
        }
        passed.added += next.value.outcome?.added ?? 0
        passed.changed += next.value.outcome?.changed ?? 0
        passed.gone += next.value.outcome?.gone ?? 0
        passed.bytesRead += next.value.bytesRead
      }
    }
    return passed
  }

  rows<Row>(sql: string, ...values: readonly string[]): Row[] {
    return this.mirror.prepare<unknown[], Row>(sql).all(...values)
  }

  held(chatId: string): Held[] {
    return this.rows<Omit<Held, 'parts'> & { parts: string }>(
      `select messages.id, role, parts, position, messages.is_live as isLive from messages
       join bodies on bodies.num = body join chats on chats.num = chat
       where chats.id = ? order by position is null, position`,
      chatId,
    ).map((row) => ({ ...row, parts: JSON.parse(row.parts) as Part[] }))
  }

  /** The first text of each message. */
  texts(chatId: string): (string | null)[] {
    return this.held(chatId).map(({ parts }) => parts.find((part) => part.kind === 'text')?.text ?? null)
  }

  get chatIds(): string[] {
    return this.rows<{ id: string }>('select id from chats order by id').map(({ id }) => id)
  }

  /** Key and reason of each issue, without the hash of the folder. */
  get issues(): string[] {
    return this.rows<{ key: string; reason: string }>('select key, reason from row_issues order by key').map(
      ({ key, reason }) => `${key.replace(/^[0-9a-f]{32}\//, '')} ${reason}`,
    )
  }

  project(chatId: string): (string | null)[] {
    const [row] = this.rows<{ uri: string | null; source: string | null }>(
      `select uri, project_source as source from chats left join projects on projects.num = project where chats.id = ?`,
      chatId,
    )
    return [row?.uri ?? null, row?.source ?? null]
  }

  remove(): void {
    this.close()
    this.mirror.close()
    rmSync(this.root, { recursive: true, force: true })
  }
}
