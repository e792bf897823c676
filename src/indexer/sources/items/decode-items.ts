import { hash as digest } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ChatMetadata, EvidenceWrite, MessageDraft } from '../../../model/change.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Piece, WholeChat } from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/find-root.ts'
import type { EvidenceMethod } from '../../projects/root-uri.ts'
import { decodeFacts, decodeTabs, eachChatOnce, madeId, tabKeys } from '../records/chat.ts'
import { asRecord, filledStringIn, parseJson, wellFormed } from '../records/json.ts'
import { decodeMessageRecord } from '../records/message.ts'
import { decodeComposers } from './decode-composers.ts'
import { decodeHeadList, decodeMembership, decodeProjects, placeMembers } from './decode-lists.ts'
import * as keys from './read.ts'
import type { RawItem } from './read.ts'

export interface Workspace {
  /** The name of its folder. */
  readonly id: string
  readonly rootUri: string | null
}

/** The content of one item, before the workspace's root is added. */
export interface ItemContent {
  readonly chats: readonly WholeChat[]
  readonly metadata: readonly ChatMetadata[]
  /** Chats that were open in this workspace's window; they may belong to another workspace. */
  readonly openTabs: readonly ChatId[]
  /** Where chats belong according to their own records, or to a list. */
  readonly evidence: readonly EvidenceWrite[]
  /** Why a part could not be read; everything else was decoded. */
  readonly issue: IssueReason | null
}

const emptyItem: ItemContent = { chats: [], metadata: [], openTabs: [], evidence: [], issue: null }

/**
 * The items of a store, one piece each. Total: any bytes become chats, heads, evidence, nothing, or an issue.
 * @param workspace null for the global store
 */
export function decodeItems(items: readonly RawItem[], workspace: Workspace | null): Piece[] {
  const parsed = items.map((item) => ({ item, ...parseItem(item) }))
  const valueOf = (key: string): unknown => parsed.find(({ item }) => item.key === key)?.value
  const members = placeMembers(
    decodeMembership(valueOf(keys.MEMBERSHIP_KEY)),
    decodeProjects(valueOf(keys.PROJECTS_KEY)),
  )
  const rootUri = workspace?.rootUri ?? null
  const pieces = parsed.map(({ item: { key, octets, value: bytes }, value, issue }) => {
    const decoded = issue === null ? decodeValue(key, value, members, workspace) : { issue }
    const { chats, metadata, openTabs, ...content } = {
      ...emptyItem,
      ...(decoded ?? { issue: 'not-an-object' as const }),
    }
    const evidence = [...content.evidence, ...weighItem({ chats, metadata, openTabs }, rootUri)]
    // It includes the root: an unchanged item places its chats elsewhere when `workspace.json` changes.
    const checksum = bytes === null ? null : crc32(bytes, crc32(rootUri ?? ''))
    return { key, octets, checksum, chats, metadata, evidence, issue: content.issue }
  })
  return eachChatOnce(pieces)
}

function parseItem({ value }: RawItem): { readonly value: unknown; readonly issue: IssueReason | null } {
  if (value === null) return { value: null, issue: 'too-large' }
  const parsed = parseJson(value.toString('utf8'))
  return parsed === null ? { value: null, issue: 'bad-json' } : { value: parsed.value, issue: null }
}

/** Null if the value has the wrong type. */
function decodeValue(
  key: string,
  value: unknown,
  members: readonly EvidenceWrite[],
  workspace: Workspace | null,
): Partial<ItemContent> | null {
  if (tabKeys.includes(key)) return decodeTabs(value)
  if (key === keys.LIST_KEY) return decodeHeadList(value)
  // What follows from two items is part of both pieces, so that it is written when either changes.
  if (key === keys.PROJECTS_KEY || key === keys.MEMBERSHIP_KEY)
    return typeof value === 'object' && value !== null ? { evidence: members } : null
  if (key === keys.COMPOSERS_KEY) return decodeComposers(value)
  if (key === keys.PROMPTS_KEY) return decodePrompts(value, workspace?.id ?? '')
  return decodePane(value)
}

/** The chats in a workspace's store belong to it; chats that were only open in its window may belong elsewhere. */
function weighItem(
  { chats, metadata, openTabs }: Pick<ItemContent, 'chats' | 'metadata' | 'openTabs'>,
  rootUri: string | null,
): EvidenceWrite[] {
  if (rootUri === null) return []
  const own = new Set([...chats.map(({ id }) => id), ...metadata.map(({ chatId }) => chatId)])
  const weigh = (id: ChatId, method: EvidenceMethod) => weighEvidence(id, [{ method, uri: rootUri }], { isOnly: false })
  return [...[...own].flatMap((id) => weigh(id, 'workspace-heads')), ...openTabs.flatMap((id) => weigh(id, 'open-tab'))]
}

const VIEW_PREFIX = 'workbench.panel.aichat.view.'

/**
 * The state of a pane of the window. Its keys name the chats that were open in it. Null if the value is not an object.
 */
function decodePane(value: unknown): Partial<ItemContent> | null {
  const pane = asRecord(value)
  if (pane === null) return null
  const names = Object.keys(pane).filter((name) => name.startsWith(VIEW_PREFIX) && name.length > VIEW_PREFIX.length)
  return { openTabs: names.map((name) => asChatId(wellFormed(name.slice(VIEW_PREFIX.length)))) }
}

/**
 * What the user typed in this workspace, oldest first, without ids, times or answers: `[{text}]`, as one chat. The list
 * is capped, so its entries move up: a prompt is identified by its text and by how often the text came before it. Null
 * if the value is not an array.
 */
function decodePrompts(value: unknown, workspaceId: string): Partial<ItemContent> | null {
  if (!Array.isArray(value)) return null
  const chatId = asChatId(`prompts-${workspaceId}`)
  const timesSeen = new Map<string, number>()
  const messages: MessageDraft[] = []
  for (const entry of value as readonly unknown[]) {
    const text = filledStringIn(asRecord(entry), 'text')
    if (text === null) continue
    const words = digest('sha256', text)
    const times = timesSeen.get(words) ?? 0
    timesSeen.set(words, times + 1)
    const place = { id: madeId([chatId, words, times]), octets: 0, isEmbedded: true, toolData: undefined }
    const decoded = decodeMessageRecord({ type: 'user', text }, place)
    if (decoded.kind === 'message') messages.push(decoded.message)
  }
  if (messages.length === 0) return {}
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  return { chats: [{ id: chatId, facts: decodeFacts({}, chatId, 'prompts'), outline, messages }] }
}
