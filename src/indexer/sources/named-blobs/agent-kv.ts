import { filledString } from '../records/json/json-value.ts'

/** What was sent to the model, by its SHA-256. Nothing in the key says of which chat. */
export const BLOB_PREFIX = 'agentKv:blob:'

export const blobKey = (hash: string): string => `${BLOB_PREFIX}${hash}`

export const chatRowKey = (chatId: string): string => `composerData:${chatId}`

/** Its value is the hash of the state's blob: written where the chat's row has no state of its own. */
export const checkpointKey = (chatId: string): string => `agentKv:checkpoint:${chatId}`

/** Older builds wrote blobs as hex, and an empty one as a zero byte. */
export function decodeBlob(value: Buffer): Buffer {
  if (value.length === 1 && value[0] === 0) return Buffer.alloc(0)
  const text = value.toString('latin1')
  return value.length % 2 === 0 && /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex') : value
}

/** The hash that a checkpoint names; null where it is none. */
export function decodeCheckpoint(value: Buffer): string | null {
  const text = filledString(value.toString('utf8'))?.trim() ?? ''
  if (value.length === 32) return value.toString('hex')
  return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}
