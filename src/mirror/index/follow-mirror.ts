import { statSync } from 'node:fs'
import { indexTermBytes } from '../../text/terms/terms.ts'
import { codeOf, indexDamaged, isOfIndex, isUnreadable } from '../damage/find-damage.ts'
import { openReader, type Mirror } from '../open.ts'
import { asking, counting, prepared } from '../sql.ts'
import { type IndexFile, indexPath, makeIndex, mirrorPosition, openIndex, readPosition } from './index-file.ts'
import { FreshTerms, type MessageTerms, cutParts, isListed } from './terms.ts'
import { columnNames } from '../../text/terms/columns.ts'

/** Changes that are taken at once. */
const TAKEN_MAX = 20_000
/** Messages and characters of one transaction: large enough that FTS5 writes large segments and rarely merges them. */
const MESSAGES_MAX = 4000
const LENGTH_MAX = 4 * 1024 * 1024

const LIST_CHANGES = `
select num, key, is_urgent as isUrgent from index_changes where num > ? order by num limit ${TAKEN_MAX}
`
const WANT = `
insert into pending (key, is_urgent) values (?, ?)
on conflict (key) do update set is_urgent = max(is_urgent, excluded.is_urgent)
`
const SAVE_POSITION = `update position set num = ?, mark = ?`
const LIST_PENDING = `select key from pending order by is_urgent desc, key desc limit ${MESSAGES_MAX}`
const TAKE = `delete from pending where key = ?`
const COUNT_PENDING = `select count(*) from pending`
const READ_PARTS = `
select parts from messages join bodies on bodies.num = body where key = ? and is_shadowed = 0
`
const READ_TITLE = `select title, summary, todos from chats where num = ?`
const ADD_TERM = `insert into terms (term) values (?) on conflict do nothing`

const DROP_MESSAGE = `delete from message_terms where rowid = ?`
const ADD_MESSAGE = `
insert into message_terms (rowid, ${columnNames.join(', ')}, marks) values (?, ${columnNames.map(() => '?').join(', ')}, ?)
`
const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TITLE = `insert into chat_terms (rowid, title, summary) values (?, ?, ?)`

/** Below this number of added rows merging is not worthwhile. */
const LOOSE_MIN = 4000
/** Pages of 16 KB per step of merging; a step takes about 20 ms. */
const PAGES = 150
const MERGE = `insert into message_terms (message_terms, rank) values ('merge', ?)`
const CHANGES = `select total_changes()`
const MERGE_ALL = `
insert into message_terms (message_terms) values ('optimize');
insert into chat_terms (chat_terms) values ('optimize');
`
/**
 * How many segments of one level there must be before FTS5 merges some of their pages with each write (0: never), and
 * before it merges all at once. While very many rows are added, FTS5 would write the same rows several times. The file
 * remembers it, so that a kill in between changes nothing.
 */
const SETTINGS = { steady: [16, 16], filling: [0, 1000] } as const
const READ_SETTING = `select v from message_terms_config where k = 'automerge'`
const WRITE_SETTINGS = `insert into message_terms (message_terms, rank) values ('automerge', ?), ('crisismerge', ?)`

const FORGET_TERMS = `
create virtual table temp.message_words using fts5vocab ('main', 'message_terms', 'row');
create virtual table temp.chat_words using fts5vocab ('main', 'chat_terms', 'row');
delete from terms where term not in (select term from message_words union all select term from chat_words);
drop table temp.message_words;
drop table temp.chat_words;
`

const SET_OPEN = `update position set is_open = ?`
const SET_CHECKED = `update position set checked_at = ?`

/**
 * The only writer of the index. It takes the changes of the mirror, and makes the rows of changed messages and titles anew
 * from what the mirror has of them: whatever it does twice or in another order gives the same index. What is urgent
 * comes first, then the newest messages. A killed process leaves each of them either indexed or pending.
 */
export class MirrorIndex {
  readonly #path: string
  readonly #now: () => number
  readonly #mirror: Mirror
  #index: IndexFile
  /** The file that is open. */
  #identity: string | null
  #fresh = new FreshTerms()
  /** Rows that were added since the last merge. */
  #looseRows = 0
  #isMergeBegun = false
  /** How often the file was made anew since this was opened: readers have to open it again. */
  timesRenewed = 0
  /** When it was last compared with the mirror, in epoch milliseconds. */
  checkedAtMs: number

  /** @throws SqliteError if the disk is full or the mirror is damaged */
  constructor(mirrorPath: string, now: () => number) {
    this.#path = indexPath(mirrorPath)
    this.#now = now
    this.#mirror = openReader(mirrorPath, { cacheKb: 2000, isIndexWanted: false })
    const index = openIndex(this.#path, this.#mirror)
    this.#index = index ?? makeIndex(this.#path, this.#mirror, now())
    this.#identity = identityAt(this.#path)
    const position = this.#healing(() => {
      const found = readPosition(this.#index)
      prepared(this.#index, SET_OPEN).run(1n)
      return found
    })
    this.checkedAtMs = position?.checkedAtMs ?? now()
    if (index !== null && position?.isOpen === 1) this.check({ isThorough: false })
  }

  /**
   * Takes what changed in the mirror, and indexes some of it, in one transaction.
   * @returns how many messages and titles are still waiting
   */
  step(): number {
    return this.#healing(() => {
      const rows = this.#inSnapshot(() => {
        const isMore = this.#take()
        const [added, left] = this.#workOff()
        return { added, left: left + (isMore ? 1 : 0) }
      })
      this.#looseRows += rows.added > 1 ? rows.added : 0
      return rows.left
    })
  }

  /** Takes and indexes everything, and merges what is worth it. */
  catchUp(): void {
    while (this.step() > 0);
    while (this.needsMerge) this.mergeSome()
  }

  /** Whether merging would make the tables smaller, by about 5%. */
  get needsMerge(): boolean {
    return this.#looseRows >= LOOSE_MIN || this.#healing(() => this.#isFilling)
  }

  /** One step of merging. Repeat it until `needsMerge` is false: then all rows are in one segment. */
  mergeSome(): void {
    this.#healing(() => {
      const count = (): number => this.#index.prepare<[], number>(CHANGES).pluck().get() ?? 0
      const before = count()
      // A negative number makes FTS5 merge all segments, not only those of one level.
      this.#index.prepare(MERGE).run(BigInt(this.#isMergeBegun ? PAGES : -PAGES))
      this.#isMergeBegun = true
      // The statement itself counts as one change; see "The 'merge' Command" in the FTS5 manual.
      if (count() - before >= 2) return
      this.#looseRows = 0
      this.#isMergeBegun = false
      this.#set('steady')
    })
  }

  /**
   * Compares the index with the mirror. If it is not sound, it is made anew.
   * @param isThorough also reads every page
   * @returns whether it was sound
   */
  check({ isThorough }: { readonly isThorough: boolean }): boolean {
    const renewed = this.timesRenewed
    const sound = this.#healing(() =>
      this.#inSnapshot(() => {
        while (this.#take());
        return isSound(this.#index, this.#mirror, isThorough)
      }),
    )
    if (!sound) this.#renew()
    this.checkedAtMs = this.#now()
    this.#healing(() => prepared(this.#index, SET_CHECKED).run(BigInt(this.checkedAtMs)))
    return this.timesRenewed === renewed
  }

  /**
   * Removes every trace of words that no message and no title has any more: the index keeps the terms of removed rows
   * until its segments are merged into one. Then the file is written anew.
   * @returns false if readers held that up
   */
  forgetWords(): boolean {
    this.catchUp()
    return this.#healing(() => {
      const index = this.#index
      index.pragma('secure_delete = on')
      index.exec(MERGE_ALL)
      index.transaction(() => index.exec(FORGET_TERMS))()
      this.#fresh = new FreshTerms()
      index.exec('vacuum')
      const [end] = index.pragma('wal_checkpoint(truncate)') as { readonly busy: number }[]
      return end?.busy === 0
    })
  }

  shrinkMemory(): void {
    this.#index.pragma('shrink_memory')
    this.#mirror.pragma('shrink_memory')
  }

  close(): void {
    try {
      prepared(this.#index, SET_OPEN).run(0n)
    } catch {
      // The next opening checks it.
    }
    this.#index.close()
    this.#mirror.close()
  }

  /** Both files as they are now. What one statement then reads of one, another reads of the other at the same time. */
  #inSnapshot<Outcome>(act: () => Outcome): Outcome {
    return this.#index.transaction(() => this.#mirror.transaction(act)())()
  }

  /** @returns whether more changes wait */
  #take(): boolean {
    const [index, mirror] = [this.#index, this.#mirror]
    const { num: last, mark } = mirrorPosition(mirror)
    const position = readPosition(index)
    if (position === undefined) throw indexDamaged(new Error('it has no position'))
    const changes = prepared<{ num: number; key: number; isUrgent: number }>(mirror, LIST_CHANGES).all(position.num)
    // Old rows go at once: a key that is free is given again. FTS5 flushes its buffer at each rowid that is less than
    // the one before.
    const keys = [...new Set(changes.map(({ key }) => key))].toSorted((a, b) => a - b)
    for (const key of keys) {
      if (key > 0) prepared(index, DROP_MESSAGE).run(BigInt(key))
      else prepared(index, DROP_TITLE).run(BigInt(-key))
    }
    for (const { key, isUrgent } of changes) prepared(index, WANT).run(BigInt(key), BigInt(isUrgent))
    // Very many rows follow.
    if (changes.some(({ isUrgent }) => isUrgent === 0) && !this.#isFilling) this.#set('filling')
    const isMore = changes.length === TAKEN_MAX
    const num = isMore ? (changes.at(-1)?.num ?? last) : last
    if (num !== position.num || mark !== position.mark) prepared(index, SAVE_POSITION).run(BigInt(num), mark)
    return isMore
  }

  /** @returns how many rows were added, and how many are left */
  #workOff(): [added: number, left: number] {
    const index = this.#index
    const messages: { key: number; terms: MessageTerms }[] = []
    const fresh: string[] = []
    let length = 0
    for (const key of prepared<number>(index, LIST_PENDING).pluck().all()) {
      prepared(index, TAKE).run(BigInt(key))
      if (key < 0) {
        fresh.push(...this.#addTitle(-key))
        continue
      }
      const parts = prepared<string>(this.#mirror, READ_PARTS).pluck().get(BigInt(key))
      if (parts === undefined) continue
      const terms = cutParts(parts)
      messages.push({ key, terms })
      // One by one: a text of base64 has more terms than a call may have arguments.
      for (const term of this.#fresh.of(terms)) fresh.push(term)
      length += parts.length
      if (length > LENGTH_MAX) break
    }
    for (const { key, terms } of messages.toSorted((a, b) => a.key - b.key))
      prepared(index, ADD_MESSAGE).run(BigInt(key), ...terms)
    for (const term of fresh.toSorted()) prepared(index, ADD_TERM).run(term)
    return [messages.length, prepared<number>(index, COUNT_PENDING).pluck().get() ?? 0]
  }

  /** @returns its new terms */
  #addTitle(num: number): string[] {
    const chat = prepared<{ title: string; summary: string | null; todos: string | null }>(
      this.#mirror,
      READ_TITLE,
    ).get(num)
    if (chat === undefined) return []
    const more = [chat.summary, ...todoTexts(chat.todos)].filter((text) => text !== null).join('\n')
    const terms = [indexTermBytes(chat.title), indexTermBytes(more)]
    prepared(this.#index, ADD_TITLE).run(BigInt(num), ...terms)
    return this.#fresh.of(terms)
  }

  /** If the index proves to be damaged, or somebody took its file away, it is made anew. */
  #healing<Outcome>(act: () => Outcome): Outcome {
    try {
      // It is closed if there was no room to make it anew.
      if (this.#index.open && identityAt(this.#path) === this.#identity) return act()
    } catch (error) {
      // Terms that were added in it are no longer there.
      this.#fresh = new FreshTerms()
      if (!isTrouble(error)) throw error
    }
    this.#renew()
    return act()
  }

  #renew(): void {
    this.#index.close()
    this.#index = makeIndex(this.#path, this.#mirror, this.#now())
    this.#identity = identityAt(this.#path)
    this.#fresh = new FreshTerms()
    this.#looseRows = 0
    this.#isMergeBegun = false
    this.timesRenewed += 1
  }

  get #isFilling(): boolean {
    return prepared<number>(this.#index, READ_SETTING).pluck().get() === SETTINGS.filling[0]
  }

  #set(merging: keyof typeof SETTINGS): void {
    const [automerge, crisismerge] = SETTINGS[merging]
    prepared(this.#index, WRITE_SETTINGS).run(BigInt(automerge), BigInt(crisismerge))
  }
}

/** None if a damaged page changed them. */
function todoTexts(json: string | null): string[] {
  try {
    return (JSON.parse(json ?? '[]') as { content: string }[]).map((todo) => todo.content)
  } catch {
    return []
  }
}

/** FTS5 and a table that is missing have no code of their own. */
const isTrouble = (error: unknown): boolean =>
  isUnreadable(error) || isOfIndex(error) || codeOf(error) === 'SQLITE_ERROR'

function identityAt(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

/** Messages and titles that are asked for, evenly spaced. */
const SAMPLE = 400
/** What is compared: all by their number, some by a word. `sign`: that of their keys among those that wait. */
const COMPARED = [
  {
    table: 'message_terms',
    sign: 1,
    count: `select count(*) from messages where is_shadowed = 0`,
    sample: `
      select key, parts as content from messages join bodies on bodies.num = body
      where is_shadowed = 0 and key in (
        select key from (select key, row_number() over (order by key) as place from messages where is_shadowed = 0)
        where place % @step = 0
      )`,
    cut: cutParts,
  },
  {
    table: 'chat_terms',
    sign: -1,
    count: `select count(*) from chats`,
    sample: `select num as key, title as content from chats where num % @step = 0 limit ${SAMPLE}`,
    cut: (title: string) => [indexTermBytes(title)],
  },
] as const
const isPending = asking<[key: bigint]>(`select 1 from pending where key = ?`)
const isInList = asking<[term: string]>(`select 1 from terms where term = ?`)
const READ_ALL = `
insert into message_terms (message_terms) values ('integrity-check');
insert into chat_terms (chat_terms) values ('integrity-check');
`

/**
 * Compares how many messages and titles the mirror and its index have, and looks up a word of some of them. Both are
 * read as they were at one time, and everything that changed before was taken.
 * @param isThorough also lets SQLite and FTS5 read every page: some seconds for a gigabyte
 * @throws SqliteError if the index is damaged
 */
function isSound(index: IndexFile, mirror: Mirror, isThorough: boolean): boolean {
  for (const { table, sign, count, sample, cut } of COMPARED) {
    const held = counting(count)(mirror)
    const indexed = counting(`select count(*) from ${table}_docsize`)(index)
    // What is pending and no longer in the mirror is not missing.
    const pending = counting(`select count(*) from pending where key * ${sign} > 0`)(index)
    if (indexed > held || indexed + pending < held) return false
    const finds = asking<[match: string, key: bigint]>(`select 1 from ${table} where ${table} match ? and rowid = ?`)
    const step = BigInt(Math.max(1, Math.floor(held / SAMPLE)))
    for (const { key, content } of prepared<{ key: number; content: string }>(mirror, sample).iterate({ step })) {
      const term = isPending(index, BigInt(sign * key)) ? null : longestTerm(cut(content))
      if (term === null) continue
      if (!finds(index, `"${term}"`, BigInt(key)) || !isInList(index, term)) return false
    }
  }
  if (!isThorough) return true
  index.exec(READ_ALL)
  return index.pragma('quick_check(1)', { simple: true }) === 'ok'
}

/** Of the terms that the list of terms has: the longest is the least frequent. */
function longestTerm(columns: readonly Buffer[]): string | null {
  const terms = columns.flatMap((column) => column.toString('utf8').split(' ')).filter(isListed)
  return terms.reduce<string | null>((best, term) => (best === null || term.length > best.length ? term : best), null)
}
