import { crc32 } from 'node:zlib'
import type { EvidenceWrite } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { weighEvidence, type EvidenceMethod } from '../../projects/evidence.ts'
import type { Piece } from '../../open-safely/whole-store.ts'
import { decodeTabs, tabKeys } from '../records/chat/decode-tabs.ts'
import { parseJson, asRecord, wellFormed } from '../records/json/json-value.ts'
import { decodeComposerRow, decodeComposers, emptyItem, type ItemContent } from './decode-composers.ts'
import { decodePrompts } from './decode-prompts.ts'
import { CHAT_ROW_PREFIX, COMPOSERS_KEY, PROMPTS_KEY, type RawItem } from './read.ts'

export interface Workspace {
  /** The name of its folder. */
  readonly id: string
  readonly rootUri: string | null
}

/** Decodes one item of a workspace's store. Total: any bytes become chats, evidence, nothing, or an issue. */
export function decodeItem({ key, octets, value }: RawItem, workspace: Workspace): Piece {
  const content = value === null ? { ...emptyItem, issue: 'too-large' as const } : decodeValue(key, value, workspace.id)
  const { chats, heads, issue } = content
  const evidence = [...content.evidence, ...weighItem(content, workspace.rootUri)]
  return { key, octets, checksum: value === null ? null : checksumOf(value, workspace), chats, heads, evidence, issue }
}

/** It includes the root: an unchanged item places its chats elsewhere when `workspace.json` changes. */
const checksumOf = (value: Buffer, { rootUri }: Workspace): number => crc32(value, crc32(rootUri ?? ''))

function decodeValue(key: string, value: Buffer, workspaceId: string): ItemContent {
  const parsed = parseJson(value.toString('utf8'))
  if (parsed === null) return { ...emptyItem, issue: 'bad-json' }
  return decodeParsed(key, parsed.value, workspaceId) ?? { ...emptyItem, issue: 'not-an-object' }
}

function decodeParsed(key: string, value: unknown, workspaceId: string): ItemContent | null {
  if (tabKeys.includes(key)) {
    const tabs = decodeTabs(value)
    return tabs === null ? null : { ...emptyItem, ...tabs }
  }
  if (key === COMPOSERS_KEY) return decodeComposers(value)
  if (key === PROMPTS_KEY) return decodePrompts(value, workspaceId)
  if (key.startsWith(CHAT_ROW_PREFIX)) return decodeComposerRow(value, asChatId(key.slice(CHAT_ROW_PREFIX.length)))
  return decodePane(value)
}

/** The chats in a workspace's store belong to it; chats that were only open in its window may belong elsewhere. */
function weighItem({ chats, heads, openTabs }: ItemContent, rootUri: string | null): EvidenceWrite[] {
  if (rootUri === null) return []
  const own = new Set([...chats.map(({ id }) => id), ...heads.map(({ chatId }) => chatId)])
  const weigh = (id: ChatId, method: EvidenceMethod) => weighEvidence(id, [{ method, uri: rootUri }], { isOnly: false })
  return [...[...own].flatMap((id) => weigh(id, 'workspace-heads')), ...openTabs.flatMap((id) => weigh(id, 'open-tab'))]
}

const VIEW_PREFIX = 'workbench.panel.aichat.view.'

/**
 * The state of a pane of the window. Its keys name the chats that were open in it. Null if the value is not an object.
 */
function decodePane(value: unknown): ItemContent | null {
  const pane = asRecord(value)
  if (pane === null) return null
  const names = Object.keys(pane).filter((name) => name.startsWith(VIEW_PREFIX) && name.length > VIEW_PREFIX.length)
  return { ...emptyItem, openTabs: names.map((name) => asChatId(wellFormed(name.slice(VIEW_PREFIX.length)))) }
}
