import { asChatId, type ChatId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import type { WholeChat } from '../../../open-safely/whole-store.ts'
import { decodeChatRecord } from './decode-chat.ts'
import { decodeText } from '../message/decode-text.ts'
import { asRecord, filledStringIn, firstFilledIn, listIn, type JsonRecord } from '../json/json-value.ts'
import { mostComplete, nameMessage, octetsOf } from './whole-chats.ts'

/** The items that contain tabs, in a workspace's store and in the global one. The second key is the older one. */
export const tabKeys: readonly string[] = [
  'workbench.panel.aichat.view.aichat.chatdata',
  'workbench.panel.chat.view.chat.chatdata',
]

export interface DecodedTabs {
  readonly chats: readonly WholeChat[]
  /** Why a part could not be read; everything else was decoded. */
  readonly issue: IssueReason | null
}

/** The chats of the oldest builds: `{tabs: [{tabId, chatTitle, bubbles}]}`. Null if the value is not an object. */
export function decodeTabs(value: unknown): DecodedTabs | null {
  const data = asRecord(value)
  if (data === null) return null
  const chats: WholeChat[] = []
  let issue: IssueReason | null = null
  for (const tab of listIn(data, 'tabs').map(asRecord)) {
    const id = filledStringIn(tab, 'tabId')
    if (tab !== null && id !== null) {
      const decoded = decodeTab(tab, asChatId(id))
      chats.push(decoded.chat)
      issue ??= decoded.issue
    } else if (listIn(tab, 'bubbles').length > 0) issue ??= 'bad-key'
  }
  return { chats: mostComplete(chats), issue }
}

/**
 * Renames the fields to those of later chats and decodes it like one of them. Its only time is that of the last
 * message.
 */
function decodeTab(tab: JsonRecord, id: ChatId): { readonly chat: WholeChat; readonly issue: IssueReason | null } {
  const record = {
    name: tab['chatTitle'],
    lastUpdatedAt: tab['lastSendTime'],
    conversation: withoutDraft(listIn(tab, 'bubbles')).map(renamed),
  }
  const decoded = decodeChatRecord(record, id, (ordinal) => nameMessage(id, ordinal))
  const facts = { ...decoded.facts, format: 'tab' as const }
  const { outline, embedded: messages, placeholders, issue } = decoded
  return { chat: { id, facts, outline, messages, placeholders, octets: octetsOf(tab) }, issue }
}

/** A tab stores its input box as its last bubble. It can contain files before it contains text. */
const withoutDraft = (bubbles: readonly unknown[]): readonly unknown[] =>
  bubbles.slice(0, bubbles.findLastIndex((bubble) => !isDraft(asRecord(bubble))) + 1)

const isDraft = (bubble: JsonRecord | null): boolean =>
  bubble?.['followup'] === true && bubble['type'] !== 'ai' && decodeText(bubble) === null

/**
 * `rawText` of an answer is the model's text; `text` was changed for display. An element that is not an object keeps
 * its place.
 */
function renamed(element: unknown): unknown {
  const bubble = asRecord(element)
  if (bubble === null) return element
  const id = filledStringIn(bubble, 'id')
  const raw = bubble['type'] === 'ai' ? firstFilledIn(bubble, ['rawText']) : null
  return { ...bubble, ...(id === null ? {} : { bubbleId: id }), ...(raw === null ? {} : { text: raw }) }
}
