import { HUB_LIMITS } from '../api/archives/archive-files.ts'
import { packChat as packArchived } from '../api/queries/archived-chat.ts'
import { Masking } from '../api/export/redact/masking.ts'
import { REDACTION_VERSION } from '../api/export/redact/rules.ts'
import type { ArchivedChat, ArchivedMessage } from '../archive/archived-chat.ts'
import type { Decoded } from '../archive/manifest.ts'
import { countMessages, type PushableChat } from '../mirror/hub/hub.ts'
import type { Mirror } from '../mirror/open.ts'
import { NAME_BYTES_MAX, OBJECT_BYTES_MAX } from './schema.ts'

/** The version of the rules by which a row was redacted; 0 if it was not. */
export const redactionOf = (isRedacted: boolean): number => (isRedacted ? REDACTION_VERSION : 0)

interface Packing {
  /** The uuid of this machine. */
  readonly origin: string
  readonly isRedacted: boolean
  /** Ids of messages that stay away. */
  readonly without: readonly string[]
}

/**
 * A chat as an object of the hub. It is an object of an archive whose first line names only the project of the chat.
 * @returns null if the chat was purged meanwhile
 */
export async function packChat(db: Mirror, chat: PushableChat, packing: Packing): Promise<Decoded<Buffer> | null> {
  if ([chat.id, chat.hubName ?? ''].some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX)) {
    return { kind: 'damaged', why: `its id or the name of its project has more than ${NAME_BYTES_MAX} bytes` }
  }
  const change = (lines: Iterable<string>) => rewritten(db, lines, chat, packing)
  const packed = packArchived(db, chat.num, packing.origin, { change, limits: HUB_LIMITS })
  if (packed?.kind !== 'sound') return packed
  const { packed: value } = packed.value
  return value.length > OBJECT_BYTES_MAX
    ? { kind: 'damaged', why: `packed it is longer than ${OBJECT_BYTES_MAX / 1024 ** 2} MB` }
    : { kind: 'sound', value }
}

function* rewritten(db: Mirror, lines: Iterable<string>, chat: PushableChat, packing: Packing): Generator<string> {
  const { isRedacted, without } = packing
  const masking = isRedacted ? new Masking() : null
  let isFirst = true
  for (const line of lines) {
    if (isFirst) {
      const first = firstLine(JSON.parse(line) as ArchivedChat, chat, masking)
      const messageCount = first.messageCount - countMessages(db, chat.num, JSON.stringify(without))
      yield `${JSON.stringify({ ...first, messageCount })}\n`
    } else if (masking === null && without.length === 0) yield line
    else {
      const message = JSON.parse(line) as ArchivedMessage
      const masked = masking === null ? message : { ...message, parts: masking.mask(message.parts) }
      if (!without.includes(message.id)) yield `${JSON.stringify(masked)}\n`
    }
    isFirst = false
  }
}

/** Ids stay, because the order of the chat and its subagents go by them. The path of a folder often names its owner. */
function firstLine(given: ArchivedChat, chat: PushableChat, masking: Masking | null): ArchivedChat {
  const { method, root, hubName } = chat
  const hidden = hubName ?? ''
  const named = root === null || masking === null ? root : { uri: hidden, path: hidden, name: root.name, remote: null }
  const facts = {
    ...given,
    evidence: method === null || named === null ? [] : [{ method, rank: 0, root: named }],
    paths: [],
  }
  if (masking === null) return facts
  const { title, name, summary, todos, branch, evidence } = facts
  return { ...facts, ...masking.mask({ title, name, summary, todos, branch, evidence }) }
}
