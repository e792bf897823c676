import { arrangeThread } from '../../../mirror/threads/arrange-thread.ts'
import type { ArchivedChat, ArchivedMessage } from '../../../archive/record.ts'
import { asMessageId } from '../../../model/ids.ts'
import type { ChatTime, Outline } from '../../../model/thread.ts'
import type { ReadObject } from './read-objects.ts'

/** When messages were said, epoch milliseconds, by their ids; null where nobody knows. */
export type Times = ReadonlyMap<string, number | null>

type OwnTimes = Pick<ArchivedMessage, 'sentAt' | 'startedAt' | 'timingAt'>

/** When an archived message was said by its own word. */
export const saidAtMs = ({ sentAt, startedAt, timingAt }: OwnTimes): number | null =>
  msOf(sentAt ?? startedAt ?? timingAt)

/** By the rules by which the mirror tells it: out of the order of the chat, too, and of what stands beside them. */
export function timesOf({ chat, messages }: Pick<ReadObject, 'chat' | 'messages'>): Times {
  const entries = messages.map(({ message }) => ({
    id: asMessageId(message.id),
    alias: message.alias === null ? null : asMessageId(message.alias),
    role: message.role,
    sentAtMs: msOf(message.sentAt),
    startedAtMs: msOf(message.startedAt),
    timingAtMs: msOf(message.timingAt),
    isLive: message.deletedAt === null,
    // No two are the same.
    contentHash: message.id,
  }))
  const placed = arrangeThread(outlineOf(chat), entries, chatTimeOf(chat))
  return new Map(placed.map(({ id, createdAtMs }) => [id, createdAtMs]))
}

function chatTimeOf({ createdAt, tracked = [] }: ArchivedChat): ChatTime | null {
  const createdAtMs = msOf(createdAt)
  if (createdAtMs !== null) return { atMs: createdAtMs, source: 'chat' }
  const recorded = tracked.flatMap(({ firstAt }) => msOf(firstAt) ?? [])
  return recorded.length === 0 ? null : { atMs: Math.min(...recorded), source: 'tracking' }
}

/** Null where nothing tells. */
export function lastActivityMs({ createdAt, updatedAt }: ArchivedChat, times: Times): number | null {
  const known = [msOf(createdAt), msOf(updatedAt), ...times.values()].filter((ms) => ms !== null)
  return known.length === 0 ? null : known.reduce((last, ms) => Math.max(last, ms))
}

const outlineOf = ({ outline }: ArchivedChat): Outline =>
  outline?.map(({ id, role, createdAt, startedAt }) => ({
    id: id === null ? null : asMessageId(id),
    role,
    createdAtMs: msOf(createdAt),
    startedAtMs: msOf(startedAt),
  })) ?? null

const msOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso))
