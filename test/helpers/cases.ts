import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** What a JSON file beside a test or helper has. */
export function readJson(url: string, name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, url), 'utf8'))
}

/** Writes out `⟦30 × text⟧` in all strings of what a JSON file has. */
export function writtenOut<Data>(data: Data): Data {
  const writeOut = (text: string): string =>
    text.replaceAll(/⟦(\d+) × ([^⟧]*)⟧/g, (_, count, what: string) => what.repeat(Number(count)))
  return mapStrings(data, writeOut)
}

export function mapStrings<Data>(data: Data, change: (text: string) => string): Data {
  return JSON.parse(JSON.stringify(data), (_, each: unknown) =>
    typeof each === 'string' ? change(each) : each,
  ) as Data
}

/** The tables of cases in the JSON file beside a test: `x.cases.json` for `x.test.ts`. */
export function casesBeside(testUrl: string): <Case>(table: string) => Case[] {
  const file = basename(testUrl).replace(/\.test\.ts$/, '.cases.json')
  const tables = readJson(testUrl, file) as Record<string, unknown[]>
  return <Case>(table: string) => {
    const cases = tables[table]
    // A test of no cases could not fail.
    if (cases === undefined || cases.length === 0) throw new Error(`${file} has no cases "${table}"`)
    return cases as Case[]
  }
}
