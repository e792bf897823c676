import { UserError } from '../../model/user-error.ts'

/** The fields of a row in a usage file. */
export type UsageField =
  | 'date'
  | 'user'
  | 'kind'
  | 'model'
  | 'maxMode'
  | 'cacheWrite'
  | 'input'
  | 'cacheRead'
  | 'output'
  | 'total'
  | 'cost'
  | 'requests'
  | 'apiCost'
  | 'agent'
  | 'automation'

/** Fields by the column names in known versions of the file, reduced to letters and digits. */
const fieldsByName: ReadonlyMap<string, UsageField> = new Map([
  ['date', 'date'],
  ['timestamp', 'date'],
  ['user', 'user'],
  ['useremail', 'user'],
  ['kind', 'kind'],
  ['model', 'model'],
  ['maxmode', 'maxMode'],
  ['inputwcachewrite', 'cacheWrite'],
  ['inputwithcachewrite', 'cacheWrite'],
  ['cachewrite', 'cacheWrite'],
  ['inputwocachewrite', 'input'],
  ['inputwithoutcachewrite', 'input'],
  ['inputtokens', 'input'],
  ['input', 'input'],
  ['cacheread', 'cacheRead'],
  ['output', 'output'],
  ['outputtokens', 'output'],
  ['tokens', 'total'],
  ['totaltokens', 'total'],
  ['cost', 'cost'],
  ['costusd', 'cost'],
  ['costtoyou', 'cost'],
  ['costrequests', 'cost'],
  ['requests', 'requests'],
  ['requestscosts', 'requests'],
  ['apicost', 'apiCost'],
  ['cloudagentid', 'agent'],
  ['automationid', 'automation'],
])

export interface UsageColumns {
  /** The column of each field that the file has. */
  readonly places: ReadonlyMap<UsageField, number>
  /** Column names as in the file, in order. */
  readonly names: readonly string[]
  /** Column names that are not known. */
  readonly unknown: readonly string[]
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '')

/**
 * Finds the columns of a usage file by name, in any order.
 * @throws UserError `bad-columns` if a required column is missing, with the missing and the found names
 */
export function findUsageColumns(cells: readonly string[]): UsageColumns {
  const names = cells.map((cell) => cell.trim())
  const places = new Map<UsageField, number>()
  const unknown: string[] = []
  for (const [place, name] of names.entries()) {
    const field = fieldsByName.get(plainName(name))
    if (field === undefined) unknown.push(name)
    else if (!places.has(field)) places.set(field, place)
  }
  const hasParts = places.has('input') && places.has('output')
  const missing = [
    places.has('date') ? null : 'Date',
    places.has('model') ? null : 'Model',
    hasParts || places.has('total') ? null : missingCounts(places),
  ].filter((name) => name !== null)
  if (missing.length === 0) return { places, names, unknown }
  throw new UserError(
    'bad-columns',
    `The file has no column ${missing.join(' and no column ')}. Its first line has: ${shown(names)}.`,
    'Use the usage file from Cursor’s dashboard, as it was downloaded.',
    { status: 400 },
  )
}

const missingCounts = (places: ReadonlyMap<UsageField, number>): string =>
  places.has('input')
    ? 'Output Tokens'
    : places.has('output')
      ? 'Input (w/o Cache Write)'
      : 'Output Tokens or Total Tokens'

const shown = (names: readonly string[]): string => {
  const first = names.slice(0, 30).map((name) => `"${name.slice(0, 60)}"`)
  return names.length > first.length ? `${first.join(', ')} and ${names.length - first.length} more` : first.join(', ')
}
