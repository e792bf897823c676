import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listLosses } from '../../src/api/queries/sources/list-losses.ts'
import { runPasses } from '../../src/engine/writer/run-passes.ts'
import type { RunOutcome } from '../../src/engine/writer/messages.ts'
import { discoverSources } from '../../src/indexer/discover.ts'
import type { MassRule, PassDepth, PassStep } from '../../src/indexer/source.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'

/** The indexer in the test's own process, with its own mirror. */
export class Indexer {
  readonly folder = mkdtempSync(join(tmpdir(), 'cursordex-mirror-'))
  readonly path = join(this.folder, 'mirror.db')
  mirror: Mirror = openWriter(this.path)
  readonly #userDirs: readonly string[]
  /** Cursor's home folders. */
  homes: readonly string[] = []
  now: () => number = Date.now
  /** When a loss is too large to be accepted at once; the program's own rule by default. */
  mass: MassRule | undefined

  constructor(...userDirs: readonly string[]) {
    this.#userDirs = userDirs
  }

  pass(depth: PassDepth = 'nudge'): RunOutcome {
    const steps = this.steps(depth)
    for (let next = steps.next(); ; next = steps.next()) if (next.done === true) return next.value
  }

  steps(depth: PassDepth = 'nudge'): Generator<PassStep, RunOutcome> {
    const places = { userDirs: this.#userDirs, homes: this.homes, disabledKinds: [] }
    const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
    return runPasses(
      this.mirror,
      places,
      { kind: 'run', sources, backlogMs: Infinity },
      this.now,
      this.mass === undefined ? {} : { mass: this.mass },
    )
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
    const any = { projectNums: null, machineNums: null, fromMs: null, toMs: null, limit: 200, offset: 0 }
    return listLosses(this.mirror, any).items.map(({ kind, chatId, messageId }) =>
      [kind, chatId, messageId ?? ''].join(' ').trim(),
    )
  }

  /** Closes the mirror and opens it again, like a restart of the program. */
  restart(): void {
    this.mirror.close()
    this.mirror = openWriter(this.path)
  }

  remove(): void {
    this.mirror.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
