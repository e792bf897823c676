import { expect, test } from 'vitest'
import { textStream } from '../../../src/api/http/text-stream.ts'

test('a text that breaks off tells the server, which prints it, nothing of what it was at', async () => {
  const faults: unknown[] = []
  const fault = new SyntaxError('"walnut" is not valid JSON')
  const stretches = function* (): Generator<string> {
    yield 'begun'
    throw fault
  }
  const response = new Response(textStream(stretches(), (error) => faults.push(error)))
  await expect(response.text()).rejects.toThrow(/^the text broke off$/)
  expect(faults).toEqual([fault])
})
