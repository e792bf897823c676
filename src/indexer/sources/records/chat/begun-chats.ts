import { asChatId, type ChatId } from '../../../../model/ids.ts'
import { CALL_CHAT_PREFIX } from '../../../../model/chat.ts'
import { filledStringIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

const none: readonly ChatId[] = []

/**
 * The chat of the subagent that a call sent out. Newer builds name it; older ones called it after the call, so that it is
 * known by there being such a chat. Neither is sure to say so in the chats' own rows.
 */
export function readBegunChats(call: JsonRecord, additional: JsonRecord | null): readonly ChatId[] {
  const named = filledStringIn(additional, 'subagentComposerId')
  if (named !== null) return [asChatId(named)]
  const callId = filledStringIn(call, 'toolCallId')
  const isTask = /^task(?:_v\d+)?$/i.test(filledStringIn(call, 'name') ?? '')
  return isTask && callId !== null ? [asChatId(`${CALL_CHAT_PREFIX}${callId}`)] : none
}
