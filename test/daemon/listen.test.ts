import { expect, test } from 'vitest'
import { hostsOf } from '../../src/daemon/listen.ts'

test('on port 80 no ordinary client was answered, for none names that port', () => {
  const hosts = hostsOf('127.0.0.1', 80)
  for (const host of ['127.0.0.1', 'localhost', '[::1]', 'localhost:80']) expect(hosts).toContain(host)
  expect(hostsOf('127.0.0.1', 4870)).not.toContain('localhost')
})
