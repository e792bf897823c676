import { migrations } from '../migrations/index.ts'
import { readTreePage, type StoredRow, type TreePage } from './cells.ts'
import type { PageFile } from './page-file.ts'
import { fits, listShapes, type Shape } from './shapes.ts'

/** Rows of one page that belong to one table. */
export interface FoundRows {
  readonly shape: Shape
  readonly rows: readonly StoredRow[]
}

/** An index of text: what it names, and the number of the row that has it. */
export type NamedRows = ReadonlyMap<string, number>

/**
 * Everything in a damaged file that can still be told for what it is. First each table from its root down, past what
 * cannot be read; then the pages to which nothing leads any more, because the page that named them is lost: they are
 * known by the shape of their rows. A page costs what stands on it and nothing else.
 */
export class DamagedFile {
  /** Pages that something names and that are no such pages any more, and rows of which bytes are missing. */
  badPages = 0
  badRows = 0
  /** Tables of which something could not be read on the way down from their root. */
  readonly unread = new Set<string>()
  readonly #file: PageFile
  readonly #shapes: readonly Shape[]
  readonly #roots: ReadonlyMap<string, number>
  readonly #seen = new Set<number>()

  constructor(file: PageFile) {
    this.#file = file
    const version = file.read(1)?.readUInt32BE(60) ?? 0
    this.#shapes = listShapes(version > 0 && version <= migrations.length ? version : migrations.length)
    this.#roots = this.#readRoots()
    // A page that was given back holds rows of the past.
    for (const free of this.#freePages()) this.#seen.add(free)
  }

  *rows(): Generator<FoundRows> {
    for (const shape of this.#shapes) {
      const root = this.#roots.get(shape.table)
      if (root !== undefined) yield* this.#rowsBelow(root, shape)
    }
    // What belongs to the tables that are not saved is no stray page.
    const known = new Set(this.#shapes.map(({ table }) => table))
    for (const [name, root] of this.#roots) if (!known.has(name)) for (const _ of this.#pagesBelow(root, null));
    yield* this.#strayRows()
  }

  /** What an index of one text column says, which outlives the rows that it names. @param name of the index */
  names(name: string): NamedRows {
    const root = this.#roots.get(name)
    const found = new Map<string, number>()
    if (root === undefined) return found
    for (const { isIndex, rows } of this.#pagesBelow(root, true, new Set())) {
      for (const { values } of isIndex ? rows : []) {
        const [text, num] = values
        if (values.length === 2 && typeof text === 'string' && typeof num === 'number') found.set(text, num)
      }
    }
    return found
  }

  *#rowsBelow(root: number, shape: Shape): Generator<FoundRows> {
    const badBefore = this.badPages + this.badRows
    for (const page of this.#pagesBelow(root, shape.isIndex)) {
      const rows = page.rows.filter((row) => fits(shape, row))
      this.badRows += page.badRows + page.rows.length - rows.length
      yield { shape, rows }
    }
    if (this.badPages + this.badRows > badBefore) this.unread.add(shape.table)
  }

  /** @param isIndex what pages of this tree are; null where that is not known */
  *#pagesBelow(root: number, isIndex: boolean | null, seen = this.#seen): Generator<TreePage> {
    const waiting = [root]
    for (let num = waiting.pop(); num !== undefined; num = waiting.pop()) {
      if (seen.has(num)) continue
      const page = readTreePage(this.#file, num)
      if (page === null || (isIndex !== null && page.isIndex !== isIndex)) {
        this.badPages += 1
        continue
      }
      seen.add(num)
      waiting.push(...page.children)
      yield page
    }
  }

  *#strayRows(): Generator<FoundRows> {
    for (let num = 1; num <= this.#file.count; num += 1) {
      const page = this.#seen.has(num) ? null : readTreePage(this.#file, num)
      if (page === null || page.rows.length === 0) continue
      const candidates = this.#shapes.filter((shape) =>
        page.rows.every((row) => row.values.length === shape.columns.length && fits(shape, row)),
      )
      const [shape] = candidates
      if (shape !== undefined && candidates.length === 1) yield { shape, rows: page.rows }
    }
  }

  #readRoots(): ReadonlyMap<string, number> {
    const roots = new Map<string, number>()
    for (const { rows } of this.#pagesBelow(1, false)) {
      for (const { values } of rows) {
        const [type, name, , root] = values
        const isTree = type === 'table' || type === 'index'
        if (isTree && typeof name === 'string' && typeof root === 'number' && root > 0) roots.set(name, root)
      }
    }
    this.badPages = 0
    return roots
  }

  *#freePages(): Generator<number> {
    const trunks = new Set<number>()
    let trunk = this.#roots.size === 0 ? 0 : (this.#file.read(1)?.readUInt32BE(32) ?? 0)
    while (trunk > 0 && !trunks.has(trunk)) {
      trunks.add(trunk)
      yield trunk
      const page = this.#file.read(trunk)
      const count = page?.readUInt32BE(4) ?? 0
      if (page === null || count > page.length / 4 - 2) return
      for (let index = 0; index < count; index += 1) yield page.readUInt32BE(8 + index * 4)
      trunk = page.readUInt32BE(0)
    }
  }
}
