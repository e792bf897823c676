import type { ChatMetadata } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { asRecord, filledStringIn, listIn } from '../records/json/json-value.ts'
import { decodeHead } from '../records/chat/decode-head.ts'
import { headEvidence, type Told } from './told.ts'

/**
 * The list of heads: `{allComposers: […]}`, or a bare array. Of two heads of one chat the first counts. Null where it
 * is neither object nor array.
 */
export function decodeHeaderList(value: unknown): Told | null {
  const data = asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : listIn(data, 'allComposers')
  const heads = new Map<ChatId, ChatMetadata>()
  const evidence: Told['evidence'][number][] = []
  for (const entry of entries.map(asRecord)) {
    const id = filledStringIn(entry, 'composerId')
    if (entry === null || id === null || heads.has(asChatId(id))) continue
    const chatId = asChatId(id)
    heads.set(chatId, decodeHead(entry, chatId, 'header-list'))
    evidence.push(...headEvidence(entry, chatId, 'header-list'))
  }
  return { heads: [...heads.values()], evidence, issue: null }
}
