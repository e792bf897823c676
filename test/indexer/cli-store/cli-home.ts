import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RunOutcome } from '../../../src/engine/writer/writer.ts'
import type { PassDepth } from '../../../src/model/pass.ts'
import { cliFolder, CliStore, CursorHome, encodeState, type JournalMode, type StatePlan } from '../../helpers/cursor.ts'
import { cliRoot } from '../../helpers/eras/cli-store.ts'
import { Indexer } from '../../helpers/in-process.ts'

/** A home of Cursor's with stores of the command line, and an indexer of it. */
export class CliHome {
  readonly #cursor = new CursorHome()
  readonly root = this.#cursor.root
  readonly path = join(this.root, '.cursor')
  indexer = this.#begin()
  readonly #stores: CliStore[] = []

  constructor() {
    mkdirSync(this.path)
  }

  #begin(): Indexer {
    const indexer = new Indexer(this.#cursor.userDir)
    indexer.homes = [this.path]
    return indexer
  }

  /** Begins again with an empty mirror. */
  rebuild(): void {
    this.indexer.remove()
    this.indexer = this.#begin()
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

  /** Makes this the store's newest state. */
  say(store: CliStore, plan: StatePlan, more: object = {}): void {
    const root = store.blob(encodeState(plan))
    store.facts({ agentId: 'a', latestRootBlobId: root, name: 'New Agent', ...more })
  }

  /** Closes every store, as the command line does when it ends. */
  close(): void {
    for (const store of this.#stores.splice(0)) store.close()
  }

  /** @returns what happened, with the ends of the sources of the command line only */
  async pass(depth: PassDepth = 'tail'): Promise<RunOutcome> {
    const outcome = await this.indexer.pass(depth)
    return { ...outcome, ends: outcome.ends.filter(({ kind }) => kind === 'cli-store') }
  }

  held(chatId: string) {
    return this.indexer
      .messages(chatId)
      .map(({ deletedInCursor, ...message }) => ({ ...message, isLive: !deletedInCursor }))
  }

  /** The first text of each message. */
  texts(chatId: string): (string | null)[] {
    return this.held(chatId).map(
      ({ parts }) =>
        parts.flatMap((part) => (part.kind === 'text' || part.kind === 'summary' ? part.text : []))[0] ?? null,
    )
  }

  get chatIds(): string[] {
    return this.indexer.chats.map(({ id }) => id)
  }

  /** Key and reason of each issue, without the hash of the folder. */
  get issues(): string[] {
    return this.indexer.issues.map((issue) => issue.replace(/^[0-9a-f]{32}\//, ''))
  }

  remove(): void {
    this.close()
    this.indexer.remove()
    this.#cursor.remove()
  }
}
