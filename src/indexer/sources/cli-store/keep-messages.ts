import type { HeldMessage } from '../../../mirror/write/messages/messages.ts'
import { textKey } from '../../../mirror/write/messages/pack-message.ts'
import type { MessageId } from '../../../model/ids.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import type { DecodedThread } from '../records/state/model-messages.ts'

export interface KeptThread extends DecodedThread {
  /** Messages of the thread that the mirror keeps and that are not read again. */
  readonly keptIds: readonly MessageId[]
}

/**
 * When Cursor writes a summary, it drops messages from the list, and only the turns still have them, shortened. If the
 * mirror has the messages of such a turn, it keeps those. The turn is recognised by the text of its prompt.
 * @param held live messages of the chat from the same source, in order
 */
export function keepMessages(thread: DecodedThread, held: readonly HeldMessage[]): KeptThread {
  const isOnlyInTurns = ({ id }: OutlineEntry): boolean => id !== null && thread.turnIds.has(id)
  const now = new Set<MessageId | null>(thread.outline?.map(({ id }) => id))
  const heldTurns = splitAtPrompts(held.filter(({ id }) => !now.has(id)))
  const promptOf = new Map(thread.messages.map(({ id, role, parts }) => [id, role === 'user' ? textKey(parts) : null]))
  const kept: MessageId[] = []
  const outline = splitAtPrompts(thread.outline ?? []).flatMap((turn): readonly OutlineEntry[] => {
    const [{ id: first }] = turn
    const prompt = isOnlyInTurns(turn[0]) && first !== null ? (promptOf.get(first) ?? null) : null
    if (prompt === null) return turn
    const at = heldTurns.findIndex(([{ user_text }]) => user_text === prompt)
    const found = at < 0 ? [] : (heldTurns.splice(0, at + 1).at(-1) ?? [])
    if (found.length === 0) return turn
    kept.push(...found.map(({ id }) => id))
    const places = found.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
    return [...places, ...turn.filter((entry) => !isOnlyInTurns(entry))]
  })
  const stays = new Set<MessageId>(outline.flatMap(({ id }) => id ?? []))
  return { ...thread, outline, messages: thread.messages.filter(({ id }) => stays.has(id)), keptIds: kept }
}

/** Each list but the first begins with a prompt. */
function splitAtPrompts<Entry extends { readonly role: string | null }>(
  entries: readonly Entry[],
): (readonly [Entry, ...Entry[]])[] {
  const turns: [Entry, ...Entry[]][] = []
  for (const entry of entries) {
    const last = turns.at(-1)
    if (last === undefined || entry.role === 'user') turns.push([entry])
    else last.push(entry)
  }
  return turns
}
