import { asChatId, type ChatId } from '../../../model/ids.ts'

/**
 * The root that a workspace folder stands for: `folder`, or for several folders the `.code-workspace` file under
 * `workspace` (`configuration` in old versions). Null where nothing names one.
 */
export function decodeWorkspaceRoot(text: string): string | null {
  const value = parseObject(text)
  for (const key of ['folder', 'workspace', 'configuration']) {
    const uri = value?.[key]
    if (typeof uri === 'string' && uri !== '') return uri
  }
  return null
}

/**
 * Ids of the chats in a workspace's `composer.composerData`: `{allComposers: [{composerId}]}`, or a bare array.
 * After the move to the global store in spring 2026 the list is gone; that is no error.
 */
export function decodeHeads(bytes: Buffer): ChatId[] {
  const value = parse(bytes.toString('utf8'))
  const list = Array.isArray(value) ? value : isObject(value) ? value['allComposers'] : null
  if (!Array.isArray(list)) return []
  return list.flatMap((head: unknown) => {
    const id = isObject(head) ? head['composerId'] : null
    return typeof id === 'string' && id !== '' ? [asChatId(id)] : []
  })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseObject(text: string): Record<string, unknown> | null {
  const value = parse(text)
  return isObject(value) ? value : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
