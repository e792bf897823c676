import { digestOf } from '../../mirror/digests/digest-backlog.ts'
import { DigestWalk } from '../../mirror/digests/digest-format.ts'
import type { Mirror } from '../../mirror/open.ts'
import { isOfMachines } from './machines.ts'

/** Columns of the chats table, one array each. Objects would cost more than everything else. */
export interface ChatColumns {
  readonly nums: readonly number[]
  readonly project: readonly (number | null)[]
  readonly mode: readonly (string | null)[]
  readonly isSubagent: readonly number[]
  readonly sizeBytes: readonly number[]
  readonly linesAdded: readonly (number | null)[]
  readonly linesRemoved: readonly (number | null)[]
  readonly filesChanged: readonly (number | null)[]
  /** A chat's index in these arrays, by its number; -1 for other numbers. */
  readonly places: Int32Array
}

export interface DigestReading {
  /** Chats as in lists, and subagents. */
  readonly chats: ChatColumns
  /** Digests of their messages. Digests of other chats may be among them, and the reader must skip those. */
  readonly digests: readonly Buffer[]
  /** Chats without a digest for which there was no time. */
  readonly leftOut: number
}

interface ReadingRequest {
  /** Null: any. */
  readonly projectNums: readonly number[] | null
  readonly machineNums: readonly number[] | null
  /** By `performance.now`: until when missing digests may be made. */
  readonly endsAtMs: number
}

/** Reads the stored digests of these chats, and makes missing ones from the bodies. */
export function readDigests(db: Mirror, words: WordNames, request: ReadingRequest): DigestReading {
  const { projectNums, machineNums, endsAtMs } = request
  const bound = { projects: bindNums(projectNums), machines: bindNums(machineNums) }
  const chats = readChats(db, bound)
  const held = db.prepare<[object], Buffer | null>(READ_DIGESTS).pluck().get(bound) ?? Buffer.alloc(0)
  const digests = [held]
  let leftOut = 0
  for (const num of withoutDigest(chats, held)) {
    if (performance.now() > endsAtMs) leftOut += 1
    else digests.push(digestOf(db, num, words))
  }
  return { chats, digests, leftOut }
}

const bindNums = (nums: readonly number[] | null): string | null => (nums === null ? null : JSON.stringify(nums))

/**
 * All digests in one value, because passing rows to JavaScript costs more than finding them. The digests are bytes, each
 * preceded by its length, and SQLite concatenates them unchanged.
 */
const READ_DIGESTS = `
  select cast(group_concat(entries, '') as blob)
  from chat_digests
  where (@projects is null
    or chat in (select num from chats where project in (select value from json_each(@projects))))
    and (@machines is null or chat in (select c.num from chats c where ${isOfMachines('c', '@machines')}))
`

/** One value per column, for the same reason. */
const READ_CHATS = `
  select
    json_group_array(num), json_group_array(project), json_group_array(mode), json_group_array(is_subagent),
    json_group_array(size_bytes), json_group_array(lines_added), json_group_array(lines_removed),
    json_group_array(files_changed)
  from chats c
  where is_draft = 0 and message_count > 0
    and (@projects is null or project in (select value from json_each(@projects)))
    and (@machines is null or ${isOfMachines('c', '@machines')})
`

function readChats(db: Mirror, bound: object): ChatColumns {
  const row = db.prepare<[object], string[]>(READ_CHATS).raw().get(bound) ?? []
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

/** The names behind the numbers in digests. A name without a number in the mirror gets a negative one. */
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
