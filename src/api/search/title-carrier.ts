import type { Mirror } from '../../mirror/open.ts'
import type { Branch } from './plan/branch.ts'
import { compileTests } from './plan/test-sql.ts'

/** The message that stands for a title: the first of the thread that passes the filters. */
interface Carrier {
  readonly key: number
  readonly place: number
}

/** Bounds so narrow that asking the index about one chat is a short look. */
const SELECT_KEY_RANGE = `
  select min(key) as low, max(key) as high from messages where chat = @chat and key between @low and @high
`

/** @returns what finds it; null where no message of the chat passes */
export function carrierFinder(db: Mirror): (chat: number, branches: readonly Branch[]) => Carrier | null {
  const finders = new Map<Branch, (chat: number) => Carrier | null>()
  const finderOf = (branch: Branch): ((chat: number) => Carrier | null) => {
    const finder = finders.get(branch) ?? prepareFinder(db, branch)
    finders.set(branch, finder)
    return finder
  }
  return (chat, branches) =>
    branches
      .map((branch) => finderOf(branch)(chat))
      .reduce<Carrier | null>(
        (one, other) => (one === null || (other !== null && isBefore(other, one)) ? other : one),
        null,
      )
}

const isBefore = (one: Carrier, other: Carrier): boolean =>
  one.place < other.place || (one.place === other.place && one.key < other.key)

function prepareFinder(db: Mirror, branch: Branch): (chat: number) => Carrier | null {
  const tests = compileTests(branch, true)
  const selectRange = db.prepare<[object], { low: number | null; high: number | null }>(SELECT_KEY_RANGE)
  const selectCarrier = db.prepare<[object], Carrier>(`
    select m.key, m.position as place from messages m
    where m.chat = @chat and m.is_orphan = 0 and m.key between @low and @high and ${tests.sql ?? '1'}
    order by m.position, m.key
    limit 1
  `)
  return (chat) => {
    const range = selectRange.get({ chat, low: branch.low, high: branch.high })
    if (range === undefined || range.low === null || range.high === null) return null
    const bounds = { low: BigInt(range.low), high: BigInt(range.high) }
    return selectCarrier.get({ chat, ...tests.params, ...bounds }) ?? null
  }
}
