import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { readChats } from '../../src/api/queries/chats.ts'
import { listMessages } from '../../src/api/queries/messages.ts'
import { listProjects } from '../../src/api/queries/projects.ts'
import { listSources, listLosses } from '../../src/api/queries/sources.ts'
import type { SourceStatus } from '../../src/api/answers/status.ts'
import type { Chat } from '../../src/api/answers/chats.ts'
import type { Project } from '../../src/api/answers/projects.ts'
import type { Message } from '../../src/api/answers/messages.ts'
import { runPasses } from '../../src/engine/writer/run-passes.ts'
import type { RunOutcome } from '../../src/engine/writer/writer.ts'
import { discoverSources } from '../../src/indexer/discover.ts'
import type { PassStep, Source } from '../../src/indexer/source.ts'
import { beginEpoch } from '../../src/mirror/index/index-file.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { asChatId } from '../../src/model/ids.ts'
import type { PassDepth, PassOrder } from '../../src/model/pass.ts'
import { attachIndex, indexOf } from './index-of.ts'
import { CursorHome, type Store } from './cursor.ts'

interface Indexed {
  readonly home: CursorHome
  /** The global store. */
  readonly store: Store
  readonly indexer: Indexer
}

/** A Cursor and an indexer of it, which both end with the test. Cursor's home folder is `.cursor`. */
export function openIndexed(home = new CursorHome()): Indexed {
  const indexer = new Indexer(home.userDir)
  indexer.homes = [join(home.root, '.cursor')]
  onTestFinished(() => {
    indexer.remove()
    home.remove()
  })
  return { home, store: home.global(), indexer }
}

/** The indexer in the test's own process, with its own mirror. */
export class Indexer {
  readonly folder = mkdtempSync(join(tmpdir(), 'cursordex-mirror-'))
  readonly path = join(this.folder, 'mirror.db')
  /** The writer's connection. It can search, too. */
  mirror: Mirror = this.#open()
  userDirs: readonly string[]
  /** Cursor's home folders. */
  homes: readonly string[] = []
  now: () => number = Date.now

  constructor(...userDirs: readonly string[]) {
    this.userDirs = userDirs
  }

  get #places() {
    return { userDirs: this.userDirs, homes: this.homes, disabledKinds: [] }
  }

  get #discovered(): Source[] {
    return discoverSources(this.#places)
  }

  /**
   * Runs a pass over every source. One over all values is what a person asks for.
   * @param onStep is told of each step. If it throws, the pass ends, and so does this with the same error
   */
  async pass(depth: PassDepth = 'tail', onStep: (step: PassStep) => void = () => undefined): Promise<RunOutcome> {
    return await this.run({ depth, isAsked: depth === 'values' }, onStep)
  }

  /** All steps of a pass. */
  async steps(depth: PassDepth = 'tail'): Promise<PassStep[]> {
    const steps: PassStep[] = []
    await this.pass(depth, (step) => steps.push(step))
    return steps
  }

  async run(order: Omit<PassOrder, 'id'>, onStep: (step: PassStep) => void): Promise<RunOutcome> {
    const sources = this.#discovered.map(({ id }) => ({ id, ...order }))
    const outcome = await runPasses(
      this.mirror,
      this.#places,
      { sources, backlogMs: Infinity },
      {
        now: this.now,
        turn: async (step) => onStep(step),
      },
    )
    indexOf(this.path, (index) => index.catchUp())
    return outcome
  }

  /** A pass that ends after the first step of which `isLast` is true, as if the program was stopped. */
  async stoppedPass(isLast: (step: PassStep) => boolean, depth: PassDepth = 'tail'): Promise<void> {
    const stopped = new Error('stopped')
    const passed = this.pass(depth, (step) => {
      if (isLast(step)) throw stopped
    })
    const error = await passed.catch((cause: unknown) => cause)
    if (error !== stopped) throw new Error('the pass ended before it was stopped', { cause: error })
  }

  /** All chats, by their ids. */
  get chats(): Chat[] {
    const nums = this.mirror.prepare<[], number>('select num from chats order by id').pluck().all()
    return readChats(this.mirror, nums).toSorted((one, other) => (one.id < other.id ? -1 : 1))
  }

  chat(id: string): Chat | undefined {
    const nums = this.mirror.prepare<[string], number>('select num from chats where id = ?').pluck().all(id)
    return readChats(this.mirror, nums)[0]
  }

  get projects(): Project[] {
    return [...listProjects(this.mirror, { limit: 200, offset: 0 }).items]
  }

  /** A chat's project, and the evidence for it. */
  placeOf(chatId: string): { readonly uri: string | null; readonly source: string | null } {
    const { project, projectSource = null } = this.chat(chatId) ?? {}
    return { uri: this.projects.find(({ id }) => id === project?.id)?.uri ?? null, source: projectSource }
  }

  /** The messages of a chat as the API gives them, orphans last. */
  messages(id: string): readonly Message[] {
    const items: Message[] = []
    // An answer has at most 8 MB.
    for (let offset: number | null = 0; offset !== null;) {
      const request = { chatId: asChatId(id), around: null, includeOrphans: true, limit: 5000, offset }
      const list = listMessages(this.mirror, request)
      if (list === null) return []
      items.push(...list.items)
      offset = list.nextOffset
    }
    return items
  }

  /** The sources that were ever seen, with their states. */
  get sources(): SourceStatus[] {
    return listSources(this.mirror)
  }

  /** What tells whether a source of this kind changed. */
  signatureOf(kind: string): string | null | undefined {
    return this.#discovered.find((source) => source.kind === kind)?.signature()
  }

  /** What could not be read, in the order of the keys: `<key> <reason>`. */
  get issues(): string[] {
    return this.mirror.prepare<[], string>(`select key || ' ' || reason from row_issues order by key`).pluck().all()
  }

  /** How many messages have the word. */
  found(word: string): number {
    const count = this.mirror.prepare<[string], number>(
      'select count(*) from message_terms where message_terms match ?',
    )
    return count.pluck().get(word) ?? 0
  }

  /** How many messages Cursor still has, and how many it deleted, without copies. */
  get counts(): { readonly live: number; readonly gone: number } {
    const of = (isLive: number): number =>
      this.mirror
        .prepare<[number], number>('select count(*) from messages where is_live = ? and is_orphan <> 2')
        .pluck()
        .get(isLive) ?? 0
    return { live: of(1), gone: of(0) }
  }

  /** The messages of a chat in the mirror: `[id, position, first text]`, orphans last. */
  thread(chatId: string): (readonly [string, number | null, string])[] {
    const rows = this.mirror
      .prepare<unknown[], { id: string; position: number | null; parts: string }>(
        `select messages.id, position, parts from messages join bodies on bodies.num = body join chats on chats.num = chat
         where chats.id = ? order by position is null, position, messages.id`,
      )
      .all(chatId)
    return rows.map(({ id, position, parts }) => [
      id,
      position,
      (JSON.parse(parts) as { text?: string }[])[0]?.text ?? '',
    ])
  }

  /** The ledger, newest first: `<kind> <chat> <message>`. */
  losses(): string[] {
    return this.#ledger.map(({ kind, chatId, messageId }) => [kind, chatId, messageId ?? ''].join(' ').trim())
  }

  /** When each of them was noticed. */
  lossTimes(): (string | null)[] {
    return this.#ledger.map(({ at }) => at)
  }

  get #ledger() {
    const any = { projectNums: null, machineNums: null, fromMs: null, toMs: null, limit: 200, offset: 0 }
    return listLosses(this.mirror, any).items
  }

  /** Closes the mirror and opens it again, like a restart of the program. */
  restart(): void {
    this.mirror.close()
    this.mirror = this.#open()
  }

  #open(): Mirror {
    const mirror = openWriter(this.path)
    beginEpoch(mirror)
    attachIndex(mirror)
    return mirror
  }

  remove(): void {
    this.mirror.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
