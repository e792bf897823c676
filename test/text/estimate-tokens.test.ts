import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens/estimate-tokens.ts'
import { casesBeside } from '../helpers/cases.ts'

const filesIn = (folder: string, type: string, one = 1): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(type))
    .toSorted()
    .filter((_, index) => index % one === 0)
    .map((name) => readFileSync(join(folder, name), 'utf8'))

const texts = casesBeside(import.meta.url)
const [chinese, russian] = [texts<string>('chinese'), texts<string>('russian')]
const prose = filesIn('docs', '.md')
const code = filesIn('src', '.ts', 12)
const json = code.map((contents, index) => JSON.stringify({ contents, path: `src/${index}.ts`, totalLines: 120 }))
const others = [...chinese, ...russian]
/** Texts as they stand in chats; the last kind has a question, code and a tool's output in one. */
const chats: Readonly<Record<string, readonly string[]>> = {
  prose,
  code,
  json,
  chinese,
  russian,
  mixed: code.map((text, index) => `${others[index % others.length]}\n\n${text}\n\n${json[index]}`),
}

const errorOf = (text: string): number => Math.abs(estimateTokens(text) / encode(text).length - 1)

test.each(Object.entries(chats))('nine of ten chats of %s are estimated within 15% of the encoder', (_, written) => {
  expect(written.length).toBeGreaterThan(1)
  expect(written.filter((text) => errorOf(text) <= 0.15).length / written.length).toBeGreaterThanOrEqual(0.9)
})

test('a text of any signs has an estimate, and an empty one has none', () => {
  expect(['', ' ', '\ud800', '🚀', 'ΑΒΓ', 'שלום', '\u0000'].map(estimateTokens)).toEqual([0, 0, 1, 1, 2, 2, 0])
})
