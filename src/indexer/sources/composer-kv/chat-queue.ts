import type { Aside, AsideTask } from '../../../mirror/aside.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import type { ChatId } from '../../../model/ids.ts'
import { openCursorFile } from '../../open-safely/cursor-file.ts'
import type { Compared, DirtyChat } from './find-changes.ts'
import { chatKey, messageRange, ofChat } from './keys.ts'
import { readChats, type ChatDiff, type Known, type Portion } from './read-chats.ts'
import { listChat, type RowRef } from './read.ts'

/** For how many chats keys are listed while the store is open once. */
export const CHATS_PER_READ = 16
/** How many groups are read ahead. */
const GROUPS_AHEAD = 5

/** Decides which missing rows are gone. It gets all rows that one look at the store misses. */
export type Verdict = (missing: readonly held.HeldRow[]) => (row: held.HeldRow) => boolean

/** Chats that are read together. */
export interface ReadGroup {
  readonly diffs: readonly ChatDiff[]
  /** Null if this thread has to read them. */
  task: AsideTask<Portion> | null
}

/** Starts to read a group on another thread. @returns null if this thread has to read it */
type Begin = (diffs: readonly ChatDiff[]) => AsideTask<Portion> | null

/** Gives changed chats in groups, in the given order, while the next groups are read ahead. */
export class ChatQueue {
  readonly #compared: Compared
  readonly #chats: readonly DirtyChat[]
  readonly #verdict: Verdict
  readonly #begin: Begin | null
  #at = 0
  #diffs: ChatDiff[] = []
  readonly #waiting: ReadGroup[] = []

  constructor(compared: Compared, chats: readonly DirtyChat[], verdict: Verdict, begin: Begin | null = null) {
    this.#compared = compared
    this.#chats = chats
    this.#verdict = verdict
    this.#begin = begin
  }

  /** @param rowsMax chats are read together until they have this many changed rows */
  next(rowsMax: number): ReadGroup | null {
    const most = this.#begin === null ? 1 : 1 + GROUPS_AHEAD
    while (this.#waiting.length < most) {
      const diffs = this.#takeGroup(rowsMax)
      if (diffs.length === 0) break
      this.#waiting.push({ diffs, task: this.#begin?.(diffs) ?? null })
    }
    return this.#waiting.shift() ?? null
  }

  #takeGroup(rowsMax: number): readonly ChatDiff[] {
    const group: ChatDiff[] = []
    for (let rows = 0; rows < rowsMax;) {
      if (this.#diffs.length === 0) {
        this.#diffs = diffChats(this.#compared, this.#chats.slice(this.#at, this.#at + CHATS_PER_READ), this.#verdict)
        this.#at += CHATS_PER_READ
      }
      const diff = this.#diffs.shift()
      if (diff === undefined) break
      group.push(diff)
      rows += diff.changed.length + 1
    }
    return group
  }

  /**
   * This thread reads the waiting groups, because Cursor has written since they were read; or nobody does, if the pass
   * ends early: the other thread would wait for ever.
   */
  drop(): void {
    for (const group of this.#waiting) {
      group.task?.cancel()
      group.task = null
    }
  }
}

/** What must be read of these chats, and what is gone. The store is opened once for all of them. */
export function diffChats(compared: Compared, chats: readonly DirtyChat[], verdict: Verdict): ChatDiff[] {
  const listed = compared.file.read((db) => chats.map(({ chatId }) => listChat(db, chatId)))
  const differences = chats.map((chat, index) => diffChat(compared, chat, listed[index] ?? []))
  const isGone = verdict(differences.flatMap(({ missing }) => missing))
  return differences.map(({ missing, ...difference }) => ({
    ...difference,
    goneKeys: missing.filter(isGone).map(({ key }) => key),
    missedKeys: missing.filter((row) => !isGone(row)).map(({ key }) => key),
  }))
}

function diffChat({ mirror, num }: Compared, { chatId, suspects }: DirtyChat, listed: readonly RowRef[]) {
  // The key range of one chat also contains keys of any chat whose id continues after a colon.
  const isOfChat = ofChat(chatId)
  const refs = listed.filter((ref) => isOfChat(ref.key))
  const { from, to } = messageRange(chatId)
  const own = held.findHeldRow(mirror, num, chatKey(chatId))
  const messages = held.listHeldRows(mirror, num, from, to).filter((row) => isOfChat(row.key))
  const rows = own === undefined ? messages : [own, ...messages]
  const known = new Map(rows.map((row) => [row.key, row.rowid]))
  const present = new Set(refs.map((ref) => ref.key))
  return {
    chatId,
    refs,
    changed: refs.filter((ref) => suspects.has(ref.key) || known.get(ref.key) !== ref.rowid),
    missing: rows.filter(({ key }) => !present.has(key)),
  }
}

/** Chats that another thread reads and decodes while this one writes. All of their rows are new. */
export interface ReadOrder {
  readonly path: string
  readonly identity: string
  readonly firstId: string
  readonly diffs: readonly ChatDiff[]
}

/** Nothing of a chat whose rows are all new is in the mirror. */
const nothingKnown: Known = { isGoneRow: () => false, roles: () => new Map<never, never>() }

/** The task `read-chats` of the other thread. @throws Error if the file cannot be opened as the writer opened it */
export function* readOrdered({ path, identity, firstId, diffs }: ReadOrder): Generator<Portion, void> {
  const file = openCursorFile(path)
  if (file.kind === 'closed') throw new Error(`${path}: ${file.state}`)
  try {
    if (file.path === null || file.identity !== identity) throw new Error(`${path} was replaced`)
    for (const portion of readChats(file, firstId, diffs, nothingKnown)) {
      yield { ...portion, longestReadMs: Math.max(portion.longestReadMs, file.longestReadMs()) }
    }
  } finally {
    file.close()
  }
}

/** With fewer changed rows, another thread is not worth its start. */
const ROWS_AHEAD_MIN = 2000

/** The other thread, if this pass can use it. It shares no copy of a file. */
export const asideFor = ({ file }: Compared, aside: Aside | undefined, rows: number): Aside | null =>
  file.path === null || rows < ROWS_AHEAD_MIN ? null : (aside ?? null)

/** Returns how the other thread starts to read a group. */
export function beginAside({ file, mirror, num }: Compared, firstId: string, aside: Aside | null): Begin | null {
  const { path, identity } = file
  if (aside === null || path === null) return null
  const isGoneChat = (chatId: ChatId): boolean => held.isGoneRow(mirror, num, chatKey(chatId))
  return (diffs) =>
    diffs.every((diff) => isAllNew(diff) && (holdsOwnRow(diff) || !isGoneChat(diff.chatId)))
      ? aside.start<Portion>('read-chats', { path, identity, firstId, diffs } satisfies ReadOrder)
      : null
}

/** Whether the chat can be read without the mirror. */
const isAllNew = ({ refs, changed, goneKeys, missedKeys }: ChatDiff): boolean =>
  changed.length === refs.length && goneKeys.length + missedKeys.length === 0

const holdsOwnRow = ({ chatId, refs }: ChatDiff): boolean => refs.some(({ key }) => key === chatKey(chatId))
