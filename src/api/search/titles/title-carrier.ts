import type { Mirror } from '../../../mirror/open.ts'
import type { Branch } from '../plan/branch.ts'
import { compileTests } from '../plan/branch-sql.ts'
import { rowsOf } from '../match/statement.ts'

/** The message that represents a title hit: the first of the thread that passes the filters. */
interface Carrier {
  readonly chat: number
  readonly key: number
  readonly place: number
}

/** The needed members of a title hit. */
interface Titled {
  readonly num: number
  readonly branches: readonly Branch[]
}

/** @returns the keys of the messages by chat number; none for a chat without a message that passes */
export function findCarriers(db: Mirror, titles: readonly Titled[]): ReadonlyMap<number, number> {
  const ofBranch = new Map<Branch, number[]>()
  for (const { num, branches } of titles) {
    for (const branch of branches) {
      const nums = ofBranch.get(branch) ?? []
      ofBranch.set(branch, nums)
      nums.push(num)
    }
  }
  const best = new Map<number, Carrier>()
  for (const [branch, nums] of ofBranch) {
    for (const carrier of carriersOf(db, branch, nums)) {
      const other = best.get(carrier.chat)
      if (other === undefined || isBefore(carrier, other)) best.set(carrier.chat, carrier)
    }
  }
  return new Map([...best].map(([chat, { key }]) => [chat, key]))
}

const isBefore = (one: Carrier, other: Carrier): boolean =>
  one.place < other.place || (one.place === other.place && one.key < other.key)

/** With the key range of one chat, the index is searched only briefly. */
const SELECT_KEY_RANGE = `
  select min(key) as low, max(key) as high from messages where chat = @chat and key between @low and @high
`

function carriersOf(db: Mirror, branch: Branch, nums: readonly number[]): readonly Carrier[] {
  const tests = compileTests(branch, true)
  const statement = rowsOf<Carrier>(
    db,
    `select m.chat, m.key, m.position as place
     from json_each(@chats) c
     cross join messages m on m.key = (
       select m.key from messages m
       where m.chat = c.value and m.is_orphan = 0 and m.key between @low and @high and ${tests.sql ?? '1'}
       order by m.position, m.key
       limit 1
     )`,
  )
  const ask = (chats: readonly number[], low: bigint, high: bigint): readonly Carrier[] =>
    statement.all({ chats: JSON.stringify(chats), ...tests.params, low, high })
  const isIndexAsked = tests.sql?.includes('@low') === true
  if (!isIndexAsked) return ask(nums, branch.low, branch.high)
  return nums.flatMap((chat) => {
    const selectRange = rowsOf<{ low: number | null; high: number | null }>(db, SELECT_KEY_RANGE)
    const range = selectRange.get({ chat, low: branch.low, high: branch.high })
    if (range === undefined || range.low === null || range.high === null) return []
    return ask([chat], BigInt(range.low), BigInt(range.high))
  })
}
