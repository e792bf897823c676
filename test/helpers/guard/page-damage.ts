import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Mirror } from '../../../src/mirror/open.ts'
import { chanceOf, garbage } from './chance.ts'
import { dumpMirror, findFaults } from './dump.ts'
import { keepSound, passOver, withMirror } from './healed.ts'
import { chatIdOf, messageIdOf, wordOf, type LossyHome } from './lossy-home.ts'

const PAGE = 16_384

/** A sound mirror with its pages: the table of each page, and the pages that each lost message needs. */
export class Original {
  readonly path = join(mkdtempSync(join(tmpdir(), 'cursordex-original-')), 'mirror.db')
  readonly bytes: Buffer
  readonly dump: ReturnType<typeof dumpMirror>
  readonly #needs = new Map<string, readonly number[]>()
  readonly #chatPages: readonly number[]
  readonly #schemaPages: readonly number[]
  readonly #owners: ReadonlyMap<number, string>

  constructor({ indexer, lost }: LossyHome) {
    indexer.mirror.pragma('wal_checkpoint(truncate)')
    copyFileSync(indexer.path, this.path)
    this.bytes = readFileSync(this.path)
    this.dump = dumpMirror(indexer.mirror)
    const owners = ownersOf(indexer.mirror)
    this.#owners = new Map([...owners].flatMap(([name, pages]) => pages.map((page) => [page, name] as const)))
    const paths = pathsOf(indexer.mirror)
    const having = (table: string, text: string): number[] =>
      (owners.get(table) ?? [])
        .filter((page) => this.page(page).includes(text))
        .flatMap((page) => paths.get(page) ?? [])
    for (const { chat, message } of lost) {
      const rows = having('messages', messageIdOf(chat, message))
      this.#needs.set(`${chatIdOf(chat)} ${messageIdOf(chat, message)}`, [
        ...rows,
        ...having('bodies', wordOf(chat, message)),
      ])
    }
    this.#schemaPages = owners.get('sqlite_schema') ?? []
    this.#chatPages = ['chats', 'sqlite_autoindex_chats_1'].flatMap((name) => owners.get(name) ?? [])
  }

  get pages(): number {
    return this.bytes.length / PAGE
  }

  page(num: number): Buffer {
    return this.bytes.subarray((num - 1) * PAGE, num * PAGE)
  }

  /** A page of another table: a text page in place of another one would be readable, and only its text would differ. */
  isAlike(page: number, other: number): boolean {
    return this.#owners.get(page) === this.#owners.get(other)
  }

  /**
   * The lost messages that need none of these pages, neither their own nor those above them. Without the schema SQLite
   * reads nothing. If both names of a chat are lost, only the texts are known. Of a table with several damaged pages, what
   * is between them is lost too.
   */
  survivors(damaged: ReadonlySet<number>): string[] {
    if (this.#schemaPages.some((page) => damaged.has(page))) return []
    if (this.#chatPages.filter((page) => damaged.has(page)).length > 1) return []
    const isTorn = (table: string): boolean =>
      [...damaged].filter((page) => this.#owners.get(page) === table).length > 1
    if (isTorn('messages') || isTorn('bodies')) return []
    const isWhole = (pages: readonly number[]): boolean => pages.every((page) => !damaged.has(page))
    return [...this.#needs].flatMap(([name, pages]) => (isWhole(pages) ? [name] : []))
  }

  remove(): void {
    rmSync(join(this.path, '..'), { recursive: true, force: true })
  }
}

function ownersOf(db: Mirror): Map<string, number[]> {
  const owners = new Map<string, number[]>()
  for (const { name, pageno } of db.prepare('select name, pageno from dbstat').all() as {
    name: string
    pageno: number
  }[]) {
    owners.set(name, [...(owners.get(name) ?? []), pageno])
  }
  return owners
}

/** For each page the pages on the way to it, from the root of its table, and itself. */
function pathsOf(db: Mirror): Map<number, number[]> {
  const pages = db.prepare('select name, path, pageno from dbstat').all() as {
    name: string
    path: string
    pageno: number
  }[]
  const byPath = new Map(pages.map(({ name, path, pageno }) => [name + path, pageno]))
  return new Map(
    pages.map(({ name, path, pageno }) => {
      const ends = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))
      return [pageno, [...ends, path].flatMap((end) => byPath.get(name + end) ?? [])]
    }),
  )
}

interface DamageRound {
  /** Numbers of the pages that were overwritten. */
  readonly damaged: ReadonlySet<number>
  readonly bytes: Buffer
}

/** Overwrites a few pages with garbage, zeros, or content of other pages. */
export function damagePages(original: Original, seed: number): DamageRound {
  const chance = chanceOf(seed)
  const bytes = Buffer.from(original.bytes)
  const anyPage = (): number => 1 + Math.floor(chance() * original.pages)
  const damaged = new Set(Array.from({ length: 1 + Math.floor(chance() * 4) }, anyPage))
  for (const page of damaged) {
    const kind = chance()
    let other = anyPage()
    while (original.isAlike(page, other)) other = anyPage()
    const over = kind < 0.5 ? garbage(chance, PAGE) : kind < 0.75 ? Buffer.alloc(PAGE) : original.page(other)
    over.copy(bytes, (page - 1) * PAGE)
  }
  return { damaged, bytes }
}

interface Healed {
  readonly faults: readonly string[]
  /** Changed messages of undamaged pages. */
  readonly wrong: readonly string[]
  readonly isSetAside: boolean
}

/** Runs the mirror's checks and a pass, and compares its content with the expected one. */
export async function heal({ home }: LossyHome, original: Original, { damaged, bytes }: DamageRound): Promise<Healed> {
  return withMirror({ main: bytes }, async (kept) => {
    const notices = keepSound(kept)
    await passOver(kept, home.userDir)
    const wrong = differences(original, dumpMirror(kept.db), new Set(original.survivors(damaged)))
    return { faults: findFaults(kept.db), wrong, isSetAside: notices.length > 0 }
  })
}

type Rows = ReadonlyMap<string, Readonly<Record<string, unknown>>>

const byName = (rows: readonly Readonly<Record<string, unknown>>[]): Rows =>
  new Map(rows.map((row) => [String(row['name']).split(' ').slice(0, 2).join(' '), row]))

/** A message that Cursor has must be unchanged; a lost one too, if its pages are undamaged. */
function differences(
  original: Original,
  healed: ReturnType<typeof dumpMirror>,
  survivors: ReadonlySet<string>,
): string[] {
  const now = byName(healed['messages'] ?? [])
  return [...byName(original.dump['messages'] ?? [])].flatMap(([name, before]) => {
    if (before['is_live'] === 0 && !survivors.has(name)) return []
    const after = now.get(name)
    if (after === undefined) return [`${name} is not there`]
    const told = ['parts', 'is_live', 'deleted_at', 'role', 'sent_at', 'content_hash']
    return told
      .filter((key) => after[key] !== before[key])
      .map((key) => `${name}: ${key} is ${String(after[key]).slice(0, 40)}`)
  })
}
