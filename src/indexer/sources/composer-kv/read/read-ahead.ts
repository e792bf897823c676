import type { AsideTask } from '../../../../mirror/aside.ts'
import { openCursorFile } from '../../../open-safely/cursor-file.ts'
import type { ChatDiff } from '../detect/diff-chats.ts'
import type { Known, Portion } from './portion-draft.ts'
import { readChats } from './read-chats.ts'

/** Chats that another thread reads and decodes while this one writes. All of their rows are new. */
export interface ReadOrder {
  readonly path: string
  readonly identity: string
  readonly firstId: string
  readonly diffs: readonly ChatDiff[]
}

/** How many groups are read ahead. */
const GROUPS_AHEAD = 5

export interface ReadGroup {
  readonly diffs: readonly ChatDiff[]
  /** Null if this thread has to read them. */
  task: AsideTask<Portion> | null
}

/** Nothing of a chat whose rows are all new is in the mirror. */
const nothing: Known = { isGoneRow: () => false, roles: () => new Map() }

/** The task `read-chats` of the other thread. @throws Error if the file cannot be opened as the writer opened it */
export function* readOrdered({ path, identity, firstId, diffs }: ReadOrder): Generator<Portion, void> {
  const file = openCursorFile(path)
  if (file.kind === 'closed') throw new Error(`${path}: ${file.state}`)
  try {
    if (file.path === null || file.identity !== identity) throw new Error(`${path} was replaced`)
    for (const portion of readChats(file, firstId, diffs, nothing)) {
      yield { ...portion, longestReadMs: Math.max(portion.longestReadMs, file.longestReadMs()) }
    }
  } finally {
    file.close()
  }
}

/** Starts to read a group on another thread. @returns null if this thread has to read it */
export type Begin = (diffs: readonly ChatDiff[]) => AsideTask<Portion> | null

/** Yields groups while the next ones are read ahead. */
export class ReadAhead {
  readonly #groups: Iterator<readonly ChatDiff[], void>
  readonly #begin: Begin | null
  readonly #waiting: ReadGroup[] = []

  constructor(groups: Iterator<readonly ChatDiff[], void>, begin: Begin | null) {
    this.#groups = groups
    this.#begin = begin
  }

  *[Symbol.iterator](): Generator<ReadGroup, void> {
    const most = this.#begin === null ? 1 : 1 + GROUPS_AHEAD
    try {
      for (;;) {
        while (this.#waiting.length < most) {
          const next = this.#groups.next()
          if (next.done === true) break
          this.#waiting.push({ diffs: next.value, task: this.#begin?.(next.value) ?? null })
        }
        const group = this.#waiting.shift()
        if (group === undefined) return
        yield group
      }
    } finally {
      // If the pass ends early, nobody takes these: the other thread would wait for ever.
      this.drop()
    }
  }

  /** This thread reads the waiting groups: Cursor has written since they were read. */
  drop(): void {
    for (const group of this.#waiting) {
      group.task?.cancel()
      group.task = null
    }
  }
}

/** The portions of a group. Null while the other thread has not finished the next one. */
export function* portionsOf(
  { task }: ReadGroup,
  read: () => Generator<Portion, void>,
): Generator<Portion | null, void> {
  const isRead = task !== null && (yield* takeAll(task))
  // After a failure, what was written already is written once more, which changes nothing.
  if (!isRead) yield* read()
}

/** @returns whether the other thread read everything */
function* takeAll(task: AsideTask<Portion>): Generator<Portion | null, boolean> {
  try {
    for (;;) {
      const taken = task.take()
      if (taken.kind === 'end' || taken.kind === 'failed') return taken.kind === 'end'
      yield taken.kind === 'value' ? taken.value : null
    }
  } finally {
    task.cancel()
  }
}
