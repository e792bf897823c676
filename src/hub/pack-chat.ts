import { layOutChat, packRest } from '../api/archives/pack-object.ts'
import { Masking } from '../api/export/redact/masking.ts'
import { REDACTION_VERSION } from '../api/export/redact/rules.ts'
import type { ArchivedChat, ArchivedMessage } from '../archive/record.ts'
import type { Decoded } from '../archive/chat-file.ts'
import type { PushableChat } from '../mirror/hub/own-side.ts'
import type { Mirror } from '../mirror/open.ts'

/** The version of the rules by which a row was redacted; 0 if it was not. */
export const redactionOf = (isRedacted: boolean): number => (isRedacted ? REDACTION_VERSION : 0)

/**
 * A chat as an object of the hub. It is an object of an archive whose first line names only the project of the chat.
 * @returns null if the chat was purged meanwhile
 */
export async function packChat(
  db: Mirror,
  chat: PushableChat,
  origin: string,
  isRedacted: boolean,
): Promise<Decoded<Buffer> | null> {
  const laidOut = layOutChat(db, chat.num, origin, (lines) => rewritten(lines, chat, isRedacted))
  if (laidOut === null || laidOut.kind === 'damaged') return laidOut
  return { kind: 'sound', value: Buffer.concat((await packRest(laidOut.value)).members) }
}

function* rewritten(lines: Iterable<string>, chat: PushableChat, isRedacted: boolean): Generator<string> {
  const masking = isRedacted ? new Masking() : null
  let isFirst = true
  for (const line of lines) {
    if (isFirst) yield `${JSON.stringify(firstLine(JSON.parse(line) as ArchivedChat, chat, masking))}\n`
    else if (masking === null) yield line
    else yield `${JSON.stringify(maskedMessage(JSON.parse(line) as ArchivedMessage, masking))}\n`
    isFirst = false
  }
}

/** Ids stay, because the order of the chat and its subagents go by them. */
function firstLine(given: ArchivedChat, chat: PushableChat, masking: Masking | null): ArchivedChat {
  const { method, uri, path, name, remoteKind, remoteHost } = chat
  const remote = remoteKind === null ? null : { kind: remoteKind, host: remoteHost ?? '' }
  const isPlaced = method !== null && uri !== null
  // The path of a folder often names its owner.
  const hidden = chat.hubName ?? ''
  const root =
    masking === null
      ? { uri: uri ?? '', path: path ?? '', name: name ?? '', remote }
      : { uri: hidden, path: hidden, name: name ?? '', remote: null }
  const facts = { ...given, evidence: isPlaced ? [{ method, rank: 0, root }] : [], paths: [] }
  if (masking === null) return facts
  const { title, name: own, summary, todos, branch, evidence } = facts
  return { ...facts, ...masking.maskAtOnce({ title, name: own, summary, todos, branch, evidence }) }
}

const maskedMessage = (message: ArchivedMessage, masking: Masking): ArchivedMessage => ({
  ...message,
  parts: masking.maskAtOnce(message.parts),
})
