import type { JsonRecord } from '../json/json-value.ts'

/** Strings of a message's record that are known, and are not said in the chat or are read elsewhere. */
const KNOWN: ReadonlySet<string> = new Set([
  'text',
  'richText',
  'rawText',
  'delegate',
  'initText',
  'content',
  'message',
  'thinking',
  'simulatedMsgReason',
  'workspaceProjectDir',
  'conversationState',
  'checkpointId',
  'afterCheckpointId',
  'requestId',
  'serverBubbleId',
  'usageUuid',
  'unifiedMode',
  'modelType',
  'createdAt',
  'promptDryRunInfo',
])
const LENGTH_MIN = 20

/**
 * Whether a record of which nothing can be shown holds words under a name that is not known: a version to come may have
 * renamed a field, and its messages would be lost in silence. Ids, hashes and paths have no space between words.
 */
export const holdsUnknownText = (record: JsonRecord): boolean =>
  Object.entries(record).some(
    ([name, value]) =>
      typeof value === 'string' && value.length >= LENGTH_MIN && /\p{L}\s+\p{L}/u.test(value) && !KNOWN.has(name),
  )
