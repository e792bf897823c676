import type { MessageId } from '../../../model/ids.ts'
import type { Role, TimeSource } from '../../../model/message.ts'
import type { CallFact } from './message-calls.ts'

/** One row of `messages`, except its key, chat and body. */
export interface MessageColumns {
  readonly source: number
  readonly id: MessageId
  readonly role: Role
  readonly alias: MessageId | null
  readonly position: number | null
  readonly created_at: number | null
  readonly created_at_source: TimeSource | null
  readonly sent_at: number | null
  readonly started_at: number | null
  readonly timing_at: number | null
  readonly model: string | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly estimated_input: number | null
  readonly estimated_output: number | null
  readonly request_id: string | null
  /** 0: in the thread. 1: the chat does not name it. 2: a copy from another source of text in the thread. */
  readonly is_orphan: number
  readonly is_shadowed: number
  readonly is_simulated: number
  readonly is_embedded: number
  readonly is_live: number
  readonly deleted_at: number | null
  readonly tool_calls: number
  readonly octets: number
  readonly content_hash: string
  readonly user_text: number | null
  readonly text_keys: string | null
  /** JSON: the result of `marksOf` for its parts. */
  readonly marks: string
  readonly is_index_capped: number
}

export interface HeldMessage extends MessageColumns {
  readonly key: number
  readonly body: number
}

/** The next state of a message. `partsJson` and `calls` are set if the message was read again. */
export interface NextMessage {
  readonly held: HeldMessage | null
  readonly columns: MessageColumns
  readonly partsJson: string | null
  readonly calls: readonly CallFact[] | null
}
