import type { MessageId } from '../../../model/ids.ts'
import type { Role } from '../../../model/message.ts'
import { reopenLive, type LiveFile, type OpenFile } from '../../cursor-file.ts'
import type { OrderReader, ReadingThread } from '../../reading-thread.ts'
import type { ChatDiff } from './diff-chats.ts'
import { chatKey } from './keys.ts'
import type { Known, Portion } from './portion-draft.ts'
import { readChats } from './read-chats.ts'

/** What another thread needs to read chats of which the mirror holds nothing. */
interface ReadOrder {
  readonly file: LiveFile
  readonly sourceId: string
  readonly diffs: readonly ChatDiff[]
}

interface ReadAnswer {
  readonly portion: Portion
  readonly isLast: boolean
}

/** The other thread's side. */
export class AheadReader implements OrderReader {
  #portions: Generator<Portion, void> | null = null
  #next: IteratorResult<Portion, void> | null = null

  read(order: unknown): ReadAnswer {
    const { file, sourceId, diffs } = order as ReadOrder
    this.#portions = readChats(reopenLive(file), sourceId, diffs, knowsNothing)
    this.#next = null
    return this.readOn()
  }

  /** One portion is always read beyond the one that is handed on, to know whether that was the last. */
  readOn(): ReadAnswer {
    const portions = this.#portions
    const current = this.#next ?? portions?.next()
    if (portions === null || current === undefined || current.done === true) throw new Error('nothing is being read')
    this.#next = portions.next()
    return { portion: current.value, isLast: this.#next.done === true }
  }
}

const knowsNothing: Known = { isGoneRow: () => false, roles: () => new Map<MessageId, Role>() }

/**
 * Reads groups of chats, a portion at a time; null says that a group is over. The other thread reads the next portion
 * while whoever asked for this one writes it. A group of which the mirror knows anything is read here, and so is each
 * that the other thread does not come back with: what is wrong with the file is met again.
 * @param known what the mirror holds, for groups read here
 */
export function* readGroups(
  file: OpenFile,
  sourceId: string,
  groups: Iterator<readonly ChatDiff[]>,
  known: Known,
  thread: ReadingThread | null,
): Generator<Portion | null, void> {
  const ask = (next: IteratorResult<readonly ChatDiff[]>): Asked =>
    next.done === true || thread === null || file.live === null || !isNew(next.value, known)
      ? null
      : (thread.read({ file: file.live, sourceId, diffs: next.value } satisfies ReadOrder) as Asked)
  let group = groups.next()
  let asked = ask(group)
  while (group.done !== true) {
    // Without another thread nothing is looked at before it is its turn.
    const following = thread === null ? null : groups.next()
    let isWhole = false
    while (!isWhole) {
      const answer = asked?.() ?? null
      if (answer === null) break
      isWhole = answer.isLast
      asked = !isWhole ? ((thread?.readOn() ?? null) as Asked) : following === null ? null : ask(following)
      yield answer.portion
    }
    if (!isWhole) {
      yield* readChats(file, sourceId, group.value, known)
      asked = following === null ? null : ask(following)
    }
    yield null
    group = following ?? groups.next()
  }
}

type Asked = (() => ReadAnswer | null) | null

/** Whether reading these chats takes nothing but the file. */
const isNew = (diffs: readonly ChatDiff[], known: Known): boolean =>
  diffs.every(
    ({ chatId, refs, changed, goneKeys, missedKeys }) =>
      changed.length === refs.length &&
      goneKeys.length + missedKeys.length === 0 &&
      (refs.some(({ key }) => key === chatKey(chatId)) || !known.isGoneRow(chatKey(chatId))),
  )
