import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { knownKeys } from '../helpers/known-keys.ts'

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8')) as unknown

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
  readonly additionalProperties?: boolean
}

function described(schema: Described, name: string): [string, Described][] {
  const items = schema.items === undefined ? [] : described(schema.items, `${name}[]`)
  const keys = Object.entries(schema.properties ?? {}).flatMap(([key, below]) => {
    const full = name === '' ? key : `${name}.${key}`
    return [[full, below] as [string, Described], ...described(below, full)]
  })
  return [...keys, ...items]
}

const schema = read('schema.json') as Described

test('the JSON schema describes exactly the keys of the settings', () => {
  const keys = described(schema, '')
  expect(keys.map(([key]) => key).sort()).toEqual(knownKeys().sort())
  expect(keys.filter(([, { description }]) => !/^[A-Z].*\.$/s.test(description ?? ''))).toEqual([])
})

test('the JSON schema rejects unknown keys wherever the settings do', () => {
  const groups = [['', schema] as const, ...described(schema, '')].filter(([, each]) => each.properties !== undefined)
  expect(groups.filter(([, group]) => group.additionalProperties !== false)).toEqual([])
})
