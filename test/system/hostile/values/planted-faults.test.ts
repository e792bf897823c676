import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type * as decoder from '../../../../src/indexer/sources/records/message/decode-message.ts'
import type * as searcher from '../../../../src/api/search/search.ts'
import { examineHome } from './examine.ts'
import { takeSamples, type Samples } from './samples.ts'

type Decoded = ReturnType<typeof decoder.decodeMessageRow>

/** A fault of the program, for one test. */
const planted = vi.hoisted((): { decode: ((value: Buffer) => unknown) | null; search: (() => void) | null } => ({
  decode: null,
  search: null,
}))

vi.mock('../../../../src/indexer/sources/records/message/decode-message.ts', async (importOriginal) => {
  const real = await importOriginal<typeof decoder>()
  return {
    ...real,
    decodeMessageRow: (...given: Parameters<typeof real.decodeMessageRow>) =>
      (planted.decode?.(Buffer.from(given[0])) as Decoded | null | undefined) ?? real.decodeMessageRow(...given),
  }
})

vi.mock('../../../../src/api/search/search.ts', async (importOriginal) => {
  const real = await importOriginal<typeof searcher>()
  return {
    ...real,
    search: (...given: Parameters<typeof real.search>) => {
      planted.search?.()
      return real.search(...given)
    },
  }
})

let samples: Samples
beforeAll(() => {
  samples = takeSamples()
})
afterEach(() => {
  planted.decode = null
  planted.search = null
})

const faults = async (): Promise<string> => (await examineHome('planted', samples)).faults.join('\n')

test('without a planted fault no fault is found', async () => {
  expect(await faults()).toBe('')
})

test('a decoder that throws is noticed', async () => {
  planted.decode = (value) => {
    if (value.includes('1e999')) throw new RangeError('planted')
    return null
  }
  expect(await faults()).toContain('planted')
})

test('a decoder that drops a valid row is noticed', async () => {
  planted.decode = (value) => (value.includes('Sound neighbour 3"') ? { kind: 'nothing', issue: null } : null)
  expect(await faults()).toContain('"Sound neighbour 3" was not read')
})

test('an issue without a known reason is noticed', async () => {
  planted.decode = (value) => (value.includes('\\ud800') ? { kind: 'issue', reason: 'odd' } : null)
  expect(await faults()).toContain('odd is no reason')
})

test('a search that fails on the words of a message is noticed', async () => {
  planted.search = () => {
    throw new SyntaxError('fts5: syntax error')
  }
  expect(await faults()).toMatch(/answered 500[^]*fts5: syntax error/)
})
