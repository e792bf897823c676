import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sharing } from '../../src/engine/hub/sharing.ts'
import { writerOnDemand } from '../../src/engine/writer/on-demand.ts'
import type { IndexWriter } from '../../src/engine/writer/thread-index.ts'
import type { Writer } from '../../src/engine/writer/writer.ts'
import { discoverSources } from '../../src/indexer/discover.ts'
import { openReader, type Mirror } from '../../src/mirror/open.ts'
import type { PurgeScope } from '../../src/mirror/purge/scope.ts'
import type { HubSettings } from '../../src/settings.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { executorHere, threadsHere } from '../helpers/engine-here.ts'

/** The acts, after each of which the threads end: a test may replace the files then. */
function closingAfter<Acts extends object>(close: () => Promise<void>, acts: Acts): Acts {
  const closing = Object.entries(acts).map(([name, act]) => [
    name,
    (...given: unknown[]): Promise<unknown> =>
      (act as (...given: unknown[]) => Promise<unknown>)(...given).finally(close),
  ])
  return Object.fromEntries(closing) as Acts
}

/** A machine with a Cursor, a mirror and a hub, in the test's own process. */
export class Machine {
  readonly home = new CursorHome()
  readonly dataDir = mkdtempSync(join(tmpdir(), 'cursordex-hub-'))
  readonly settings: HubSettings
  writer!: Writer
  #index!: IndexWriter
  readonly #homes: readonly string[]
  #reader: Mirror | null = null

  constructor(
    url: string,
    label: string,
    more: Partial<HubSettings> & { readonly redact?: boolean; readonly homes?: (home: CursorHome) => string[] } = {},
  ) {
    const { redact = false, homes, ...rest } = more
    const schedule = '*/10 * * * *'
    this.settings = {
      url,
      machine: label,
      push: { projects: ['*'], redact, schedule },
      pull: { projects: ['*'], schedule },
      ...rest,
    }
    this.#homes = homes?.(this.home) ?? []
    this.exclude([])
  }

  /** Starts again, with these projects excluded. */
  exclude(excludedProjects: readonly string[]): void {
    const { writer, index, close } = writerOnDemand(
      { mirrorPath: this.path, ...this.#places, excludedProjects },
      () => undefined,
      threadsHere,
    )
    this.writer = closingAfter(close, writer)
    this.#index = closingAfter(close, index)
  }

  get #places() {
    return { userDirs: [this.home.userDir], homes: this.#homes, disabledKinds: [] }
  }

  get path(): string {
    return join(this.dataDir, 'mirror.db')
  }

  /** Reads Cursor. */
  async sync(): Promise<void> {
    const sources = discoverSources(this.#places).map(({ id }) => ({ id, depth: 'values', isAsked: true }) as const)
    await this.writer.act('run', { sources, backlogMs: Infinity })
    await this.#index.follow()
  }

  get mirror(): Mirror {
    return (this.#reader ??= openReader(this.path))
  }

  /** Closes the reading connection, so that the file can be replaced. */
  shut(): void {
    this.#reader?.close()
    this.#reader = null
  }

  sharing(settings: Partial<HubSettings> = {}): Sharing {
    return new Sharing(
      { ...this.settings, ...settings },
      {
        executor: executorHere(this.path, () => this.mirror),
        writer: this.writer,
        index: this.#index,
        mirror: () => this.mirror,
      },
    )
  }

  /** @param projects named by hand, `*` for all; by default those of the settings */
  push(...projects: readonly string[]): ReturnType<Sharing['push']> {
    return this.sharing().push(...(projects.length === 0 ? [] : [{ projects }]))
  }

  pull(): ReturnType<Sharing['pull']> {
    return this.sharing().pull()
  }

  /** `<chat> <message> <first text>` of all messages, sorted. */
  words(): string[] {
    return this.mirror
      .prepare<[], string>(
        `select chats.id || ' ' || messages.id || ' ' || parts from messages
         join chats on chats.num = chat join bodies on bodies.num = body where is_orphan <> 2 order by 1`,
      )
      .pluck()
      .all()
  }

  /** Purges, in the mirror only. */
  async purge(scope: PurgeScope): Promise<void> {
    await this.writer.act('purge', { act: 'remove', scope, isDryRun: false })
  }

  /** As if it had never pulled. */
  async forgetPulled(): Promise<void> {
    const rows = this.mirror
      .prepare<[], { machine: string; chat: string }>('select machine, chat from hub_ledger')
      .all()
    await this.writer.act('hub', { act: 'take', rows: [], gone: rows })
  }

  remove(): void {
    this.shut()
    this.home.remove()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}
