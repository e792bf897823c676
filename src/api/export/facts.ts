import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

export interface MaskedCount {
  /** The kind of secret. */
  readonly kind: string
  readonly count: number
}

/** Facts about the export, which the file contains. */
export interface ExportStamp {
  /** Version of this program. */
  readonly version: string
  readonly exportedAt: string | null
  /** What has been masked so far. Missing if masking is off. */
  readonly masked?: () => readonly MaskedCount[]
}

/** Writes a chat as a file, in pieces, so that a long chat is not in memory at once. */
export type FileWriter = (
  chat: Chat,
  stamp: ExportStamp,
) => {
  readonly head: string
  readonly message: (message: Message) => Iterable<string>
  /** Called after the last message. */
  readonly end: () => string
}

/** How many secrets were masked, for people. The command line reads it at the end of the file. Null if masking is off. */
export function maskedSentence({ masked }: ExportStamp): string | null {
  if (masked === undefined) return null
  const counts = masked()
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  const kinds = counts.map(({ kind, count }) => `${count} ${kind}`).join(', ')
  const what = total === 0 ? 'nothing' : `${total} ${total === 1 ? 'secret' : 'secrets'} (${kinds})`
  return `Masked in this file: ${what}. No rule finds every secret.`
}

/** The known facts of a chat, as text for people. Unknown ones are left out. */
export function chatFacts(chat: Chat): { readonly name: string; readonly value: string }[] {
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ['Project', chat.project?.name ?? null],
    ['Machine', chat.machine === null ? null : `${chat.machine.user}/${chat.machine.name}`],
    ['Created', timeText(chat.createdAt)],
    ['Last activity', timeText(chat.lastActivityAt)],
    ['Mode', chat.mode],
    ['Model', chat.models.length > 0 ? chat.models.join(', ') : chat.model],
    ['Messages', figure(chat.messageCount)],
    ['Tool calls', chat.toolCallCount === 0 ? null : figure(chat.toolCallCount)],
    ['Changes', changesText(chat)],
    ['State', stateText(chat)],
    ['Id', chat.id],
  ]
  return facts.flatMap(([name, value]) => (value === null || value === '' ? [] : [{ name, value }]))
}

function changesText({ linesAdded, linesRemoved, filesChanged }: Chat): string | null {
  const texts = [
    linesAdded === null ? null : `+${figure(linesAdded)}`,
    linesRemoved === null ? null : `-${figure(linesRemoved)}`,
    filesChanged === null ? null : `in ${figure(filesChanged)} ${filesChanged === 1 ? 'file' : 'files'}`,
  ]
  const known = texts.filter((text) => text !== null)
  return known.length === 0 ? null : known.join(' ')
}

function stateText(chat: Chat): string {
  const states = [
    chat.isArchived ? 'archived' : null,
    chat.isSubagent ? 'subagent' : null,
    chat.deletedInCursor ? 'deleted in Cursor' : null,
  ]
  return states.filter((state) => state !== null).join(', ')
}

export const roleName = ({ role }: Message): string => (role === 'user' ? 'User' : 'Assistant')

/** Model, tokens and special marks of a message. The time is not included. */
export function messageMarks(message: Message): string[] {
  const { tokens } = message
  const marks = [
    message.model,
    tokens === null ? null : tokensText(tokens),
    message.isSimulated ? 'sent by Cursor' : null,
    message.isOrphan ? 'orphan' : null,
    message.deletedInCursor ? 'deleted in Cursor' : null,
  ]
  return marks.filter((mark) => mark !== null && mark !== '').map(String)
}

/** An estimate is marked as one, because the file also contains counts from Cursor. It is of one side only. */
function tokensText({ input, output, source }: NonNullable<Message['tokens']>): string {
  if (source === 'estimated') return `${figure((input ?? 0) + (output ?? 0))} tokens, estimated`
  const counts = [
    input === null ? null : `${figure(input)} tokens in`,
    output === null ? null : input === null ? `${figure(output)} tokens out` : `${figure(output)} out`,
  ]
  return counts.filter((count) => count !== null).join(', ')
}

/** A time that is not the message's own is marked with `about`. */
export function messageTime({ createdAt, createdAtSource }: Message): string | null {
  const text = timeText(createdAt)
  const isGuess = createdAtSource === 'neighbour' || createdAtSource === 'chat' || createdAtSource === 'tracking'
  return text !== null && isGuess ? `about ${text}` : text
}

/** `2026-02-19 20:30:00 UTC`: does not depend on the machine's time zone or locale. */
function timeText(iso: string | null): string | null {
  return iso === null ? null : iso.replace('T', ' ').replace(/(\.\d+)?Z$/u, ' UTC')
}

/** Digits are grouped the same way on every machine. */
function figure(count: number): string {
  return count.toLocaleString('en-US')
}
