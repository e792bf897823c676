import { request } from 'node:http'
import * as os from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { waitUntil } from '../helpers/wait-until.ts'
import { asksForToken, hostsOf, listen, type Listening } from '../../src/daemon/server/listen.ts'

vi.mock('node:os', { spy: true })

let listening: Listening | null = null
afterEach(async () => {
  await listening?.close()
  listening = null
  vi.restoreAllMocks()
})

test('on port 80 ordinary clients were refused, because they do not write that port', () => {
  const hosts = hostsOf('127.0.0.1', 80)
  for (const host of ['127.0.0.1', 'localhost', '[::1]', 'localhost:80']) expect(hosts).toContain(host)
  expect(hostsOf('127.0.0.1', 4870)).not.toContain('localhost')
})

/** The status of the answer to a request with this Host header. */
const statusFor = (port: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, headers: { host: `${host}:${port}` } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject)
    asked.end()
  })

const addresses = (address: string): ReturnType<typeof os.networkInterfaces> => ({
  vpn: [{ address, netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null }],
})

test('an address that the machine got after the start was refused until a restart', async () => {
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.1.1.1'))
  listening = await listen({ host: '0.0.0.0', port: 0 }, () => Promise.resolve((_, response) => void response.end()))
  const { port } = new URL(listening.url)
  expect([await statusFor(port, '10.1.1.1'), await statusFor(port, '10.2.2.2')]).toEqual([200, 421])
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.2.2.2'))
  await waitUntil('it to be known', async () => (await statusFor(port, '10.2.2.2')) === 200)
  expect([await statusFor(port, '10.1.1.1'), await statusFor(port, '10.2.2.2')]).toEqual([421, 200])
  expect(await statusFor(port, 'evil.example')).toBe(421)
})

test('if the system could not list its addresses, the next request ended the daemon', async () => {
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.1.1.1'))
  listening = await listen({ host: '0.0.0.0', port: 0 }, () => Promise.resolve((_, response) => void response.end()))
  const { port } = new URL(listening.url)
  let asked = 0
  vi.mocked(os.networkInterfaces).mockImplementation(() => {
    asked += 1
    throw new Error('too many open files')
  })
  await waitUntil('it to be asked', async () => (await statusFor(port, '10.1.1.1')) === 200 && asked > 0)
  expect(await statusFor(port, '10.1.1.1')).toBe(200)
})

test('requests to the public address are accepted, and loopback needs no list of addresses', async () => {
  vi.mocked(os.networkInterfaces).mockImplementation(() => {
    throw new Error('a hardened service may not ask')
  })
  const publicUrl = 'https://chats.example'
  listening = await listen({ host: '127.0.0.1', port: 0, publicUrl }, () =>
    Promise.resolve((_, response) => void response.end()),
  )
  const { port } = new URL(listening.url)
  const statusOf = (host: string) =>
    new Promise((resolve) => {
      request({ port, host: '127.0.0.1', headers: { host } }, (response) => resolve(response.resume().statusCode)).end()
    })
  expect([await statusOf('chats.example'), await statusOf('other.example')]).toEqual([200, 421])
})

test.each([
  [null, false],
  ['http://localhost:9000', false],
  ['http://[::1]:9000', false],
  ['https://chats.example', true],
])('with the public address %s the token is required: %s', (publicUrl, expected) => {
  expect(asksForToken({ auth: { required: false }, http: { host: '127.0.0.1', port: 1, publicUrl } })).toBe(expected)
})
