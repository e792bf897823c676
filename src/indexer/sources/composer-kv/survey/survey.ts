import { endedBy, openCursorFile, type OpenFile } from '../../../open-safely/cursor-file.ts'
import { isPlainName, ShapeTally, type FamilySurvey, type Survey, type TableSurvey } from '../../../survey.ts'
import { asRecord, filledStringIn, parseJson } from '../../records/json/json-value.ts'
import { isItemTable, isPrivate, judgeItem, judgeKey, tableUse, type KeyVerdict } from './families.ts'
import * as read from './read-survey.ts'

/** Examines everything in a store. Only names, numbers and shapes are reported. */
export function surveyStore(path: string): Survey {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, tables: [] }
  const tables: TableSurvey[] = []
  try {
    for (const table of file.read(read.listTables)) tables.push(surveyTable(file, table))
    return { state: 'ok', detail: null, tables }
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, tables }
  } finally {
    file.close()
  }
}

const nothing = {
  rows: null,
  bytes: null,
  families: [],
  nullKeys: 0,
  unnamedRows: 0,
  privateRows: 0,
  isChatLike: false,
  sampled: 0,
  shape: {},
}

function surveyTable(file: OpenFile, table: read.TableRef): TableSurvey {
  const use = tableUse(table.name)
  const isSecret = use === 'unknown' && isPrivate(table.name)
  const about = {
    ...nothing,
    name: use !== 'unknown' || (isPlainName(table.name) && !isSecret) ? table.name : '<table>',
    use,
    columns: table.columns.map((name) => (isPlainName(name) && !isPrivate(name) ? name : '<key>')),
  }
  if (table.layout === 'closed') return about
  const isFollowed = table.layout === 'keys' && !isSecret
  return { ...about, ...(isFollowed ? surveyKeys(file, table.name) : surveyRows(file, table, isSecret)) }
}

/** A table whose rows have no key to group them by. */
function surveyRows(file: OpenFile, table: read.TableRef, isSecret: boolean) {
  const columns = isSecret ? [] : table.columns.filter((name) => !isPrivate(name))
  const rows = file.read((db) => read.countTable(db, table.name))
  const samples = file.read((db) => read.sampleTable(db, table.name, columns))
  const tally = new ShapeTally()
  const values = samples.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, opened(cell)])),
  )
  for (const value of values) tally.add(value)
  return {
    rows,
    privateRows: isSecret ? rows : 0,
    isChatLike: values.some((value) => looksLikeChat(value)),
    sampled: samples.length,
    shape: tally.shape,
  }
}

/** The parsed JSON of a cell, if it is JSON. Otherwise only its length is used. */
function opened(cell: unknown): unknown {
  if (typeof cell !== 'string' && !Buffer.isBuffer(cell)) return cell
  const { json } = parsedCell(cell)
  if (json !== undefined) return json
  return typeof cell === 'string' ? cell : cell.toString('latin1')
}

type Judge = (key: string) => KeyVerdict

/** A family that is read in a known table is unknown in an unknown table. */
function judgeOf(table: string): Judge {
  if (isItemTable(table)) return judgeItem
  if (tableUse(table) !== 'unknown') return judgeKey
  return (key) => {
    const verdict = judgeKey(key)
    return verdict.kind === 'family' ? { ...verdict, use: 'unknown', versionMax: null } : verdict
  }
}

function surveyKeys(file: OpenFile, table: string) {
  const tally = new KeyTally(judgeOf(table))
  let after: bigint | undefined = read.FIRST_ROWID
  while (after !== undefined) {
    const from: bigint = after
    const page = file.read((db) => read.walkRows(db, table, from, file.readMsMax))
    for (const row of page) tally.add(row)
    after = page.at(-1)?.rowid
  }
  const { rows, bytes, nullKeys, unnamedRows, privateRows } = tally
  const families = [...tally.families.values()]
    .sort((one, other) => other.bytes - one.bytes || (one.verdict.name < other.verdict.name ? -1 : 1))
    .map((family) => surveyFamily(file, table, family))
  return { rows, bytes, nullKeys, unnamedRows, privateRows, families }
}

type FamilyVerdict = Extract<KeyVerdict, { readonly kind: 'family' }>

/** This many names show that a store is not what it seems; further ones are grouped. */
const FAMILIES_MAX = 300
const FURTHER: FamilyVerdict = { kind: 'family', name: '<id>', use: 'unknown', isSampled: true, versionMax: null }

class KeyTally {
  readonly families = new Map<string, FamilyTally>()
  rows = 0
  bytes = 0
  nullKeys = 0
  unnamedRows = 0
  privateRows = 0
  readonly #judge: Judge

  constructor(judge: Judge) {
    this.#judge = judge
  }

  add({ rowid, key, octets }: read.KeyedRow): void {
    this.rows += 1
    this.bytes += octets ?? 0
    const verdict = key === null ? null : this.#judge(key)
    if (verdict === null) this.nullKeys += 1
    else if (verdict.kind === 'private') this.privateRows += 1
    else if (verdict.kind === 'unnamed') this.unnamedRows += 1
    else this.#familyOf(verdict).add(rowid, octets)
  }

  #familyOf(verdict: FamilyVerdict): FamilyTally {
    const isFull = verdict.use === 'unknown' && this.families.size >= FAMILIES_MAX
    const shown = isFull && !this.families.has(verdict.name) ? FURTHER : verdict
    const known = this.families.get(shown.name)
    if (known !== undefined) return known
    const made = new FamilyTally(shown)
    this.families.set(shown.name, made)
    return made
  }
}

const HALF = read.SAMPLES_MAX / 2

class FamilyTally {
  readonly verdict: FamilyVerdict
  rows = 0
  bytes = 0
  nullValues = 0
  /** An even sample of all rows, and the newest rows, because a new format appears there first. */
  #spread: bigint[] = []
  #newest: bigint[] = []
  #seen = 0
  #stride = 1

  constructor(verdict: FamilyVerdict) {
    this.verdict = verdict
  }

  add(rowid: bigint, octets: number | null): void {
    this.rows += 1
    this.bytes += octets ?? 0
    if (octets === null) this.nullValues += 1
    else if (octets <= read.SAMPLE_OCTETS_MAX && this.verdict.isSampled) this.#pick(rowid)
  }

  #pick(rowid: bigint): void {
    if (this.#seen % this.#stride === 0) this.#spread.push(rowid)
    this.#seen += 1
    if (this.#spread.length > HALF) {
      this.#spread = this.#spread.filter((_, index) => index % 2 === 0)
      this.#stride *= 2
    }
    this.#newest.push(rowid)
    if (this.#newest.length > 2 * HALF) this.#newest = this.#newest.slice(-HALF)
  }

  get picks(): bigint[] {
    return [...new Set([...this.#newest.slice(-HALF), ...this.#spread])]
  }
}

function surveyFamily(file: OpenFile, table: string, family: FamilyTally): FamilySurvey {
  const { verdict, rows, bytes, nullValues } = family
  const tally = new ShapeTally()
  const versions = new Set<number | 'other'>()
  let sampled = 0
  let isChatLike = false
  for (const { value } of samplesOf(file, table, family)) {
    const { json, octets } = parsedCell(value)
    sampled += 1
    if (json === undefined) tally.addUnparsed(octets)
    else tally.add(json)
    isChatLike ||= looksLikeChat(json)
    const version = unknownVersion(json, verdict.versionMax)
    if (version !== null) versions.add(version)
  }
  const { name, use } = verdict
  const unknownVersions = [...versions].sort((one, other) => Number(one) - Number(other))
  return { name, use, rows, bytes, nullValues, sampled, isChatLike, unknownVersions, shape: tally.shape }
}

function* samplesOf(file: OpenFile, table: string, family: FamilyTally): Generator<read.SampleRow> {
  const judge = judgeOf(table)
  let waiting: readonly bigint[] = family.picks
  while (waiting.length > 0) {
    const rest = waiting
    const { rows, taken } = file.read((db) => read.readSamples(db, table, rest, file.readMsMax))
    // A rowid may have been given to another row since then; a private row must not be examined.
    for (const row of rows) if (judge(row.key).kind === 'family') yield row
    waiting = rest.slice(taken)
  }
}

function unknownVersion(json: unknown, versionMax: number | null): number | 'other' | null {
  const version = asRecord(json)?.['_v']
  if (versionMax === null || version === undefined) return null
  if (typeof version !== 'number' || !Number.isSafeInteger(version)) return 'other'
  return version > versionMax ? version : null
}

/** `json` is undefined for what is not JSON, and for a single word or number, which may be anything. */
function parsedCell(cell: string | Buffer): { readonly json: unknown; readonly octets: number } {
  const text = typeof cell === 'string' ? cell : cell.toString('utf8')
  const json = /^\s*[[{]/.test(text) ? parseJson(text)?.value : undefined
  return { json, octets: typeof cell === 'string' ? Buffer.byteLength(cell) : cell.length }
}

const TEXTS = ['text', 'content', 'message', 'rawText', 'markdown', 'prompt']
const LISTS = ['messages', 'conversation', 'bubbles', 'content', 'parts', 'turns']
const CHAT_DEPTH_MAX = 5
const NODES_MAX = 5000

/** Whether a message seems to be near the top of a value. It is better to report too much. */
export function looksLikeChat(root: unknown): boolean {
  const waiting = [{ value: root, depth: 0 }]
  let nodes = 0
  for (let next = waiting.pop(); next !== undefined && nodes < NODES_MAX; next = waiting.pop()) {
    nodes += 1
    const { depth } = next
    const value = typeof next.value === 'string' ? parsedCell(next.value).json : next.value
    if (typeof value !== 'object' || value === null) continue
    if (looksLikeMessage(value)) return true
    if (depth === CHAT_DEPTH_MAX) continue
    const children: readonly unknown[] = Object.values(value)
    for (const child of children.slice(0, NODES_MAX)) waiting.push({ value: child, depth: depth + 1 })
  }
  return false
}

function looksLikeMessage(value: object): boolean {
  const record = asRecord(value)
  if (record === null) return false
  const isFilled = (name: string): boolean => filledStringIn(record, name) !== null
  const isList = (name: string): boolean =>
    typeof record[name] === 'object' && record[name] !== null && Object.keys(record[name]).length > 0
  return TEXTS.some(isFilled) || LISTS.some(isList) || (isFilled('role') && 'content' in record)
}
