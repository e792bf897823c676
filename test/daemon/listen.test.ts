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

/** Listens, and answers everything. */
async function open(host: string, publicUrl?: string): Promise<void> {
  const settings = { host, port: 0, ...(publicUrl === undefined ? {} : { publicUrl }) }
  listening = await listen(settings, () => Promise.resolve((_, response) => void response.end()))
}

/** The status of the answer to a request with this Host header, which has the port unless it names a public address. */
const statusFor = (name: string, isPublic = false): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(listening?.url ?? '')
    const headers = { host: isPublic ? name : `${name}:${port}` }
    const asked = request({ host: '127.0.0.1', port, headers }, (response) => resolve(response.resume().statusCode))
    asked.on('error', reject)
    asked.end()
  })

const addresses = (address: string): ReturnType<typeof os.networkInterfaces> => ({
  vpn: [{ address, netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null }],
})

test('an address that the machine got after the start was refused until a restart', async () => {
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.1.1.1'))
  await open('0.0.0.0')
  expect([await statusFor('10.1.1.1'), await statusFor('10.2.2.2')]).toEqual([200, 421])
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.2.2.2'))
  await waitUntil('it to be known', async () => (await statusFor('10.2.2.2')) === 200)
  expect([await statusFor('10.1.1.1'), await statusFor('10.2.2.2')]).toEqual([421, 200])
  expect(await statusFor('evil.example')).toBe(421)
})

test('if the system could not list its addresses, the next request ended the daemon', async () => {
  vi.mocked(os.networkInterfaces).mockReturnValue(addresses('10.1.1.1'))
  await open('0.0.0.0')
  let asked = 0
  vi.mocked(os.networkInterfaces).mockImplementation(() => {
    asked += 1
    throw new Error('too many open files')
  })
  await waitUntil('it to be asked', async () => (await statusFor('10.1.1.1')) === 200 && asked > 0)
  expect(await statusFor('10.1.1.1')).toBe(200)
})

test('requests to the public address are accepted, and loopback needs no list of addresses', async () => {
  vi.mocked(os.networkInterfaces).mockImplementation(() => {
    throw new Error('a hardened service may not ask')
  })
  await open('127.0.0.1', 'https://chats.example')
  expect([await statusFor('chats.example', true), await statusFor('other.example', true)]).toEqual([200, 421])
})

test.each([
  [null, false],
  ['http://localhost:9000', false],
  ['http://[::1]:9000', false],
  ['https://chats.example', true],
])('with the public address %s the token is required: %s', (publicUrl, expected) => {
  expect(asksForToken({ auth: { required: false }, http: { host: '127.0.0.1', port: 1, publicUrl } })).toBe(expected)
})
