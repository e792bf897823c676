import { crc32 } from 'node:zlib'
import type { IssueReason } from '../../../model/issue.ts'
import type { Piece } from '../../open-safely/whole-store.ts'
import { decodeTabs, tabKeys } from '../records/chat/decode-tabs.ts'
import { parseJson } from '../records/json/json-value.ts'
import { eachChatOnce } from '../records/chat/whole-chats.ts'
import { emptyList, type ListContent, decodeHeaderList } from './decode-list.ts'
import { decodeMembership, decodeProjects, placeMembers } from './decode-projects.ts'
import { LIST_KEY, MEMBERSHIP_KEY, PROJECTS_KEY, type RawItem } from './read.ts'

/** The items of the table, one piece each. Total: any bytes become chats, heads, evidence, nothing, or an issue. */
export function decodeItems(items: readonly RawItem[]): Piece[] {
  const parsed = items.map((item) => ({ item, ...parseItem(item) }))
  const valueOf = (key: string): unknown => parsed.find(({ item }) => item.key === key)?.value
  const evidence = placeMembers(decodeMembership(valueOf(MEMBERSHIP_KEY)), decodeProjects(valueOf(PROJECTS_KEY)))
  const pieces = parsed.map(({ item, value, issue }) => {
    const content = issue === null ? decodeItem(item.key, value, evidence) : { ...emptyList, issue }
    const checksum = item.value === null ? null : crc32(item.value)
    return { key: item.key, octets: item.octets, checksum, chats: [], ...content }
  })
  return eachChatOnce(pieces)
}

/** What follows from two items is part of both pieces, so that it is written when either changes. */
function decodeItem(
  key: string,
  value: unknown,
  evidence: ListContent['evidence'],
): ListContent & Partial<Pick<Piece, 'chats'>> {
  if (tabKeys.includes(key)) return { ...emptyList, ...(decodeTabs(value) ?? { issue: 'not-an-object' as const }) }
  if (key === LIST_KEY) return decodeHeaderList(value) ?? { ...emptyList, issue: 'not-an-object' }
  const isReadable = typeof value === 'object' && value !== null
  return isReadable ? { ...emptyList, evidence } : { ...emptyList, issue: 'not-an-object' }
}

interface ParsedItem {
  readonly value: unknown
  readonly issue: IssueReason | null
}

function parseItem({ value, isDamaged }: RawItem): ParsedItem {
  if (value === null) return { value: null, issue: isDamaged ? 'unreadable-page' : 'too-large' }
  const parsed = parseJson(value.toString('utf8'))
  return parsed === null ? { value: null, issue: 'bad-json' } : { value: parsed.value, issue: null }
}
