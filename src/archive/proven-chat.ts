import type { ArchivedChat, ArchivedMessage } from './record.ts'

/** Where a message of an archived chat stands; null for one that the chat no longer named. */
export interface ArchivedPlace {
  readonly id: string
  readonly position: number | null
}

/** A chat out of an archive, every byte of which was compared with what the archive says of it. */
export interface ProvenChat {
  readonly kind: 'sound'
  readonly chat: ArchivedChat
  /** Of all its messages, in their order. */
  readonly places: readonly ArchivedPlace[]
  /** Unpacks them once more, one at a time. */
  messages(): AsyncIterable<ArchivedMessage>
}

/** One that is not taken. */
export interface DamagedChat {
  readonly kind: 'damaged'
  /** Null where nothing tells whose it was. */
  readonly id: string | null
  readonly why: string
}
