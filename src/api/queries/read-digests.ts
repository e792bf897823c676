import { digestOf } from '../../mirror/digests/digest-backlog.ts'
import { DigestWalk } from '../../mirror/digests/digest-format.ts'
import type { Mirror } from '../../mirror/open.ts'

/** What is counted of chats beside their messages, a place for each: objects would cost more than all the rest. */
export interface ChatColumns {
  readonly nums: readonly number[]
  readonly project: readonly (number | null)[]
  readonly mode: readonly (string | null)[]
  readonly isSubagent: readonly number[]
  readonly sizeBytes: readonly number[]
  readonly linesAdded: readonly (number | null)[]
  readonly linesRemoved: readonly (number | null)[]
  readonly filesChanged: readonly (number | null)[]
  /** By a chat's number, its place; -1 for what is not among them. */
  readonly places: Int32Array
}

export interface DigestReading {
  /** Chats as lists have them, subagents among them. */
  readonly chats: ChatColumns
  /** Of their messages, and of those of other chats: whoever walks passes these over. */
  readonly digests: readonly Buffer[]
  /** Chats that nobody digested yet and for which there was no time. */
  readonly leftOut: number
}

interface ReadingRequest {
  /** Null: any. */
  readonly projectNums: readonly number[] | null
  /** By `performance.now`: how long there is time to digest what nobody did. */
  readonly endsAtMs: number
}

/** The digests that these chats have, and those that nobody made, which are made out of the bodies. */
export function readDigests(db: Mirror, words: WordNames, { projectNums, endsAtMs }: ReadingRequest): DigestReading {
  const projects = projectNums === null ? null : JSON.stringify(projectNums)
  const chats = readChats(db, projects)
  const held = db.prepare<[object], Buffer | null>(READ_DIGESTS).pluck().get({ projects }) ?? Buffer.alloc(0)
  const digests = [held]
  let leftOut = 0
  for (const num of withoutDigest(chats, held)) {
    if (performance.now() > endsAtMs) leftOut += 1
    else digests.push(digestOf(db, num, words))
  }
  return { chats, digests, leftOut }
}

/**
 * All in one value: to hand rows over to JavaScript costs more than to find them. What is put together are bytes, each
 * digest with its own length before it; SQLite keeps them as they are.
 */
const READ_DIGESTS = `
  select cast(group_concat(entries, '') as blob)
  from chat_digests
  where @projects is null
    or chat in (select num from chats where project in (select value from json_each(@projects)))
`

/** Column by column, for the same reason. */
const READ_CHATS = `
  select
    json_group_array(num), json_group_array(project), json_group_array(mode), json_group_array(is_subagent),
    json_group_array(size_bytes), json_group_array(lines_added), json_group_array(lines_removed),
    json_group_array(files_changed)
  from chats
  where is_draft = 0 and message_count > 0
    and (@projects is null or project in (select value from json_each(@projects)))
`

function readChats(db: Mirror, projects: string | null): ChatColumns {
  const row = db.prepare<[object], string[]>(READ_CHATS).raw().get({ projects }) ?? []
  const column = <Value>(at: number): Value[] => JSON.parse(row[at] ?? '[]') as Value[]
  const nums = column<number>(0)
  const places = new Int32Array(nums.reduce((most, num) => Math.max(most, num), 0) + 1).fill(-1)
  for (const [place, num] of nums.entries()) places[num] = place
  return {
    nums,
    places,
    project: column(1),
    mode: column(2),
    isSubagent: column(3),
    sizeBytes: column(4),
    linesAdded: column(5),
    linesRemoved: column(6),
    filesChanged: column(7),
  }
}

function withoutDigest({ nums, places }: ChatColumns, held: Buffer): number[] {
  const isDigested = new Uint8Array(nums.length)
  for (const walk = new DigestWalk(held); walk.nextChat();) {
    const place = places[walk.chat] ?? -1
    if (place >= 0) isDigested[place] = 1
  }
  return nums.filter((_, place) => isDigested[place] === 0)
}

const FIND_WORD = `select num from digest_words where word = ?`
const READ_WORD = `select word from digest_words where num = ?`

/** The names behind a digest's numbers. Names that the mirror has no number for get one below 0. */
export class WordNames {
  readonly #db: Mirror
  readonly #own: string[] = []
  readonly #nums = new Map<string, number>()

  constructor(db: Mirror) {
    this.#db = db
  }

  numOf(word: string): number {
    const known = this.#nums.get(word)
    if (known !== undefined) return known
    const held = this.#db.prepare<[string], number>(FIND_WORD).pluck().get(word)
    const num = held ?? -this.#own.push(word)
    this.#nums.set(word, num)
    return num
  }

  nameOf(num: number): string {
    if (num < 0) return this.#own[-num - 1] ?? ''
    return this.#db.prepare<[number], string>(READ_WORD).pluck().get(num) ?? ''
  }
}
