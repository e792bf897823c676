import type { MessageId } from '../../model/ids.ts'

/** By which a message that is to be removed is noted. Not its key: that moves with its time, if anything writes meanwhile. */
export const targetName = (chat: number, id: MessageId | string): string => JSON.stringify([chat, id])
