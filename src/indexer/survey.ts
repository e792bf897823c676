import type { SourceState } from '../model/source.ts'

/** What a store contains, described without any of its values, so that the description can be shared. */
export interface Survey {
  readonly state: SourceState
  readonly detail: string | null
  readonly tables: readonly TableSurvey[]
}

export interface TableSurvey {
  /** `<table>` if the name could be user data. */
  readonly name: string
  /**
   * `rows`: each row is tracked. `list`: a known table that is read as a whole or not at all. `unknown`: never seen
   * before.
   */
  readonly use: 'rows' | 'list' | 'unknown'
  /** Null if it was not examined, as is the case for a view. */
  readonly rows: number | null
  readonly bytes: number | null
  readonly columns: readonly string[]
  readonly families: readonly FamilySurvey[]
  readonly nullKeys: number
  /** Rows that are neither named nor read, because their name may be personal data. */
  readonly unnamedRows: number
  /** Rows with tokens and similar secrets: counted, but never named and never read. */
  readonly privateRows: number
  /** For a table without families: whether its rows look like chats, and their shape. */
  readonly isChatLike: boolean
  readonly sampled: number
  readonly shape: Shape
}

/** Rows whose keys begin with the same text. */
export interface FamilySurvey {
  /** The keys of the family, with ids replaced. */
  readonly name: string
  readonly use: 'read' | 'noise' | 'unknown'
  readonly rows: number
  readonly bytes: number
  readonly nullValues: number
  readonly sampled: number
  readonly isChatLike: boolean
  /**
   * Format versions among the sampled values that are later than any known version. `other` is a version that is not a
   * number.
   */
  readonly unknownVersions: readonly (number | 'other')[]
  readonly shape: Shape
}

export interface LengthRange {
  readonly count: number
  readonly lengthMin: number
  readonly lengthMax: number
}

/** The common structure of several JSON values. Of a text it contains only the length. */
export interface Shape {
  readonly nulls?: number
  readonly booleans?: number
  readonly numbers?: number
  readonly strings?: LengthRange
  readonly arrays?: LengthRange & { readonly items: Shape }
  readonly objects?: { readonly count: number; readonly fields: Readonly<Record<string, Shape>> }
  /** Values that are not JSON, by their bytes. */
  readonly unparsed?: LengthRange
}

const NAME_LENGTH_MAX = 40
const DIGITS_MAX = 3
const HEX_WORD = /^(?=.*\d)[0-9a-f]{8,}$/i

/**
 * Whether this looks like a name from a program. A name that could be an id, a path, a mail address or a person's words
 * is rejected.
 */
export function isPlainName(name: string): boolean {
  if (name.length > NAME_LENGTH_MAX || !/^[A-Za-z_$][\w$]*$/.test(name)) return false
  return !HEX_WORD.test(name) && name.replace(/\D/g, '').length <= DIGITS_MAX
}

const DEPTH_MAX = 30
const ITEMS_MAX = 100
/** An object with more names than this is a map, and its names are data: nobody writes so many into a program. */
const FIELDS_MAX = 120
const OTHER_KEY = '<key>'

/** Collects the shapes of values. */
export class ShapeTally {
  #nulls = 0
  #booleans = 0
  #numbers = 0
  #objects = 0
  readonly #strings = new Range()
  readonly #arrays = new Range()
  readonly #unparsed = new Range()
  #items: ShapeTally | null = null
  readonly #fields = new Map<string, ShapeTally>()

  addUnparsed(octets: number): void {
    this.#unparsed.add(octets)
  }

  add(value: unknown, depth = 0): void {
    if (value === null || value === undefined) this.#nulls += 1
    else if (typeof value === 'boolean') this.#booleans += 1
    else if (typeof value === 'string') this.#strings.add(value.length)
    else if (Array.isArray(value)) this.#addItems(value, depth)
    else if (typeof value === 'object') this.#addFields(value, depth)
    else this.#numbers += 1
  }

  #addItems(items: readonly unknown[], depth: number): void {
    this.#arrays.add(items.length)
    if (depth === DEPTH_MAX || items.length === 0) return
    this.#items ??= new ShapeTally()
    for (const item of items.slice(0, ITEMS_MAX)) this.#items.add(item, depth + 1)
  }

  #addFields(value: object, depth: number): void {
    this.#objects += 1
    if (depth === DEPTH_MAX) return
    const entries = Object.entries(value)
    const isMap = entries.length > FIELDS_MAX
    for (const [name, child] of entries) this.#field(isMap ? OTHER_KEY : name).add(child, depth + 1)
  }

  #field(name: string): ShapeTally {
    const isNew = !this.#fields.has(name)
    const shown = isPlainName(name) && !(isNew && this.#fields.size >= FIELDS_MAX) ? name : OTHER_KEY
    const known = this.#fields.get(shown)
    if (known !== undefined) return known
    const made = new ShapeTally()
    this.#fields.set(shown, made)
    return made
  }

  get shape(): Shape {
    const [strings, arrays, unparsed] = [this.#strings.range, this.#arrays.range, this.#unparsed.range]
    const fields = Object.fromEntries([...this.#fields].map(([name, tally]) => [name, tally.shape]))
    return {
      ...(this.#nulls > 0 ? { nulls: this.#nulls } : {}),
      ...(this.#booleans > 0 ? { booleans: this.#booleans } : {}),
      ...(this.#numbers > 0 ? { numbers: this.#numbers } : {}),
      ...(strings === null ? {} : { strings }),
      ...(arrays === null ? {} : { arrays: { ...arrays, items: this.#items?.shape ?? {} } }),
      ...(this.#objects > 0 ? { objects: { count: this.#objects, fields } } : {}),
      ...(unparsed === null ? {} : { unparsed }),
    }
  }
}

class Range {
  #count = 0
  #min = Infinity
  #max = 0

  add(length: number): void {
    this.#count += 1
    this.#min = Math.min(this.#min, length)
    this.#max = Math.max(this.#max, length)
  }

  get range(): LengthRange | null {
    return this.#count === 0 ? null : { count: this.#count, lengthMin: this.#min, lengthMax: this.#max }
  }
}
