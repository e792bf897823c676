import { roles } from '../../../model/message.ts'
import { columnNames } from '../../../text/terms/columns.ts'
import { readPeriod } from '../../periods.ts'
import { echo } from './echo.ts'
import { fieldNames, type FieldName, type FieldNode } from './tree.ts'

export const partNames = [...columnNames, 'title'] as const

const allowed: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  role: roles,
  in: partNames,
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}
const dated: ReadonlySet<FieldName> = new Set<FieldName>(['before', 'after', 'on'])
const VALUE_LENGTH_MAX = 1000

/** A field as it is written: its name, and all behind the first colon. A second colon makes it a name in code. */
export function splitField(text: string): { readonly name: FieldName; readonly value: string } | null {
  const [, typed = '', value = ''] = /^([a-z]+):(?!:)(.*)$/is.exec(text) ?? []
  const name = fieldNames.find((each) => each === typed.toLowerCase())
  return name === undefined ? null : { name, value }
}

/** Flags and other programs call it so; a name in code is seldom followed by a date. */
const otherDateNames = /^(from|since|to|until):(?!:)(.*)$/i

/** Says so where a date stands under a name that is no field's: it is searched for as words. */
export function warnOfDateName(text: string, warnings: string[]): void {
  const [, name = '', value = ''] = otherDateNames.exec(text) ?? []
  if (name === '' || !isDateWord(value)) return
  const meant = /^(?:from|since)$/i.test(name) ? 'after:' : 'before:'
  warnings.push(
    `${echo(text)} was searched for as words: for a date there are after:, before: and on:, here ${meant}${value}.`,
  )
}

/** Reads a field, or says why it is taken as words. */
export function readField(name: FieldName, given: string, source: string, warnings: string[]): FieldNode | null {
  const value = given.trim()
  const reason = value === '' ? 'nothing stands behind the colon' : reasonAgainst(name, value)
  if (reason === null) return { kind: 'field', name, values: [name in allowed ? value.toLowerCase() : value] }
  warnings.push(`${echo(source)} was searched for as words: ${reason}.`)
  return null
}

function reasonAgainst(name: FieldName, value: string): string | null {
  const values = allowed[name]
  if (values !== undefined && !values.includes(value.toLowerCase())) {
    return `${name}: takes ${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`
  }
  if (dated.has(name) && !isDateWord(value)) {
    return `${name}: takes a date such as 2026-03-01, 2026-02, yesterday, 7d or "last week"`
  }
  return value.length > VALUE_LENGTH_MAX ? `it is longer than ${VALUE_LENGTH_MAX} characters` : null
}

const isDateWord = (value: string): boolean => readPeriod(value, { timeZone: 'UTC', nowMs: 0 }) !== null

/** `last` and `this` want the word behind them: `after:last week`. */
export function wantsUnit(
  { name, value }: { readonly name: FieldName; readonly value: string },
  next: string,
): boolean {
  return dated.has(name) && /^(?:last|this)$/i.test(value) && isDateWord(`${value} ${next}`)
}
