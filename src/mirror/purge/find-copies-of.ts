import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { PROMPTS } from '../write/chats/prompt-chats.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'

interface CopyRow {
  readonly key: number
  readonly id: string
  readonly isOrphan: number
  readonly textKeys: string | null
  readonly toolCalls: number
}

const LIST_MESSAGES = `
select key, id, is_orphan as isOrphan, text_keys as textKeys, tool_calls as toolCalls from messages where chat = ?
`

/**
 * Messages of a chat that only repeat what goes, in the words of another store: without what they repeat they would
 * stand in its place.
 * @param going keys of messages of this chat
 */
export function findCopiesOf(db: Mirror, chat: number, going: ReadonlySet<number>): number[] {
  const rows = prepared<CopyRow>(db, LIST_MESSAGES).all(chat)
  const ids = new Set(rows.filter(({ key }) => going.has(key)).map(({ id }) => id))
  const staying = rows.filter(({ key, isOrphan }) => isOrphan !== 2 && !going.has(key))
  const words = new Set(staying.flatMap(keysOf))
  const hasTools = staying.some(({ toolCalls }) => toolCalls > 0)
  const isHeld = (row: CopyRow): boolean =>
    keysOf(row).length === 0 ? hasTools : keysOf(row).every((key) => words.has(key))
  const goes = (row: CopyRow): boolean => ids.has(row.id) || (row.isOrphan === 2 && !isHeld(row))
  return rows.filter((row) => !going.has(row.key) && goes(row)).map(({ key }) => key)
}

const keysOf = ({ textKeys }: CopyRow): string[] => splitTextKeys(textKeys)

const HAS_PROMPTS = `select 1 from chats where format = '${PROMPTS}' limit 1`
const LIST_PROMPTS = `
select messages.key from messages join chats on chats.num = messages.chat
where messages.user_text = @words and chats.format = '${PROMPTS}'
`
const IS_SAID_ELSEWHERE = `
select messages.key, messages.chat from messages join chats on chats.num = messages.chat
where messages.user_text = @words and chats.format <> '${PROMPTS}'
`

/**
 * What the lists of typed prompts hold of what goes, where nothing that stays says the same.
 * @param words of users' messages that go
 * @param isGoing tells whether a message goes
 */
export function findPromptsOf(
  db: Mirror,
  words: Iterable<number>,
  isGoing: (message: { readonly key: number; readonly chat: number }) => boolean,
): number[] {
  if (prepared(db, HAS_PROMPTS).get() === undefined) return []
  const found: number[] = []
  for (const each of new Set(words)) {
    const bound = { words: BigInt(each) }
    const said = prepared<{ key: number; chat: number }>(db, IS_SAID_ELSEWHERE).all(bound)
    if (!said.every(isGoing)) continue
    found.push(
      ...prepared<{ key: number }>(db, LIST_PROMPTS)
        .all(bound)
        .map(({ key }) => key),
    )
  }
  return found
}
