import { expect, test } from 'vitest'
import { textStream } from '../../../src/api/http/text-stream.ts'

test('the error of a text that ends early does not show any of the chat in the log', async () => {
  const faults: unknown[] = []
  const fault = new SyntaxError('"walnut" is not valid JSON')
  const stretches = function* (): Generator<string> {
    yield 'begun'
    throw fault
  }
  const response = new Response(textStream(stretches(), (error) => faults.push(error)))
  await expect(response.text()).rejects.toThrow(/^the text ended early$/)
  expect(faults).toEqual([fault])
})
