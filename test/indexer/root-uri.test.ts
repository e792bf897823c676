import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { normaliseRoot } from '../../src/indexer/projects/root-uri.ts'

test.each([
  ['file:///home/me/shop', 'file:///home/me/shop', '/home/me/shop', 'shop'],
  ['file:///home/me/shop/', 'file:///home/me/shop', '/home/me/shop', 'shop'],
  ['/home/me/shop', 'file:///home/me/shop', '/home/me/shop', 'shop'],
  ['file:///home/me/my%20shop', 'file:///home/me/my%20shop', '/home/me/my shop', 'my shop'],
  ['file:///home/me/100%', 'file:///home/me/100%25', '/home/me/100%', '100%'],
  ['file:///c%3A/Users/Me/Shop', 'file:///c:/Users/Me/Shop', 'c:/Users/Me/Shop', 'Shop'],
  ['file:///C:/Users/Me/Shop', 'file:///c:/Users/Me/Shop', 'c:/Users/Me/Shop', 'Shop'],
  ['C:\\Users\\Me\\Shop', 'file:///c:/Users/Me/Shop', 'c:/Users/Me/Shop', 'Shop'],
  ['file://Server/share/shop', 'file://server/share/shop', '//server/share/shop', 'shop'],
  ['\\\\Server\\share\\50%20', 'file://server/share/50%2520', '//server/share/50%20', '50%20'],
  ['\\\\wsl$\\Ubuntu\\shop', 'file://wsl%24/Ubuntu/shop', '//wsl$/Ubuntu/shop', 'shop'],
  ['file://wsl%24/Ubuntu/shop', 'file://wsl%24/Ubuntu/shop', '//wsl$/Ubuntu/shop', 'shop'],
  ['file://wsl$/Ubuntu/shop', 'file://wsl%24/Ubuntu/shop', '//wsl$/Ubuntu/shop', 'shop'],
  ['file:///', 'file:///', '/', '/'],
  ['file:///home/me/all.code-workspace', 'file:///home/me/all.code-workspace', '/home/me/all.code-workspace', 'all'],
])('%s is %s', (given, uri, path, name) => {
  expect(normaliseRoot(given)).toEqual({ uri, path, name, remote: null })
})

const hex = (text: string): string => Buffer.from(text).toString('hex')

test.each([
  ['vscode-remote://ssh-remote%2Bprod/srv/app', 'ssh', 'prod'],
  ['vscode-remote://ssh-remote+prod/srv/app', 'ssh', 'prod'],
  ['vscode-remote://ssh-remote+%7B%22host%22%3A%22prod%22%7D/srv/app', 'ssh', 'prod'],
  [`vscode-remote://ssh-remote%2B${hex('{"hostName":"prod"}')}/srv/app`, 'ssh', 'prod'],
  ['vscode-remote://ssh-remote%2Bada%40prod%3A2222/srv/app', 'ssh', 'prod'],
  ['vscode-remote://ssh-remote%2B%5B%3A%3A1%5D%3A22/srv/app', 'ssh', '[::1]'],
  ['vscode-remote://ssh-remote%2Bfe80%3A%3A1/srv/app', 'ssh', 'fe80::1'],
  ['vscode-remote://wsl%2BUbuntu-24.04/srv/app', 'wsl', 'ubuntu-24.04'],
  ['vscode-remote://dev-container%2Babc/srv/app', 'container', 'abc'],
])('%s is on another machine', (uri, kind, host) => {
  expect(normaliseRoot(uri)).toMatchObject({ path: '/srv/app', name: 'app', remote: { kind, host } })
})

test.each([
  ['{"hostName":"Prod"}', 'Prod'],
  ['{"hostName":"prod","user":"ada"}', 'ada@prod'],
  ['{"hostName":"prod","user":"ada","port":2222}', 'ada@prod:2222'],
])('a folder over SSH is one project in every spelling of its host: %s', (sshHost, plain) => {
  const [first, ...others] = [
    `ssh-remote%2B${hex(sshHost)}`,
    `ssh-remote+${hex(sshHost).toUpperCase()}`,
    `ssh-remote+${encodeURIComponent(sshHost)}`,
    `ssh-remote%2B${encodeURIComponent(plain)}`,
  ].map((authority) => normaliseRoot(`vscode-remote://${authority}/srv/app`))
  expect(first?.uri).toBe(`vscode-remote://${encodeURIComponent(`ssh-remote+${plain}`)}/srv/app`)
  for (const other of others) expect(other).toEqual(first)
})

test('a folder in WSL is one project, whatever the case of its distribution', () => {
  const [inText, inParts] = ['wsl%2Bubuntu', 'wsl+Ubuntu'].map((authority) =>
    normaliseRoot(`vscode-remote://${authority}/home/ada/Shop`),
  )
  expect(inParts).toEqual(inText)
  expect(inText?.path).toBe('/home/ada/Shop')
})

test.each([
  ['ssh-remote', '{"hostName":"prod","jump":"gate"}'],
  ['ssh-remote', '{"hostName":"{}"}'],
  ['ssh-remote', '{"hostName":7}'],
  ['ssh-remote', '{"user":"ada"}'],
  ['dev-container', '{"hostName":"prod"}'],
])('an authority that names more than a host, or no host, is unchanged: %s %s', (kind, sshHost) => {
  const authority = `${kind}+${hex(sshHost)}`
  expect(normaliseRoot(`vscode-remote://${authority}/srv/app`)?.uri).toBe(
    `vscode-remote://${encodeURIComponent(authority)}/srv/app`,
  )
})

test('one folder on two machines is two projects', () => {
  const [here, there] = [normaliseRoot('file:///srv/app'), normaliseRoot('vscode-remote://ssh-remote%2Bprod/srv/app')]
  expect(here?.uri).not.toBe(there?.uri)
})

test('paths that differ in case are two projects', () => {
  expect(normaliseRoot('file:///home/me/Shop')?.uri).not.toBe(normaliseRoot('file:///home/me/shop')?.uri)
})

test.each(['', 'shop', './shop', 'untitled:'])('%j names no folder', (given) => {
  expect(normaliseRoot(given)).toBeNull()
})

const segment = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    'shop',
    'José',
    '100%',
    '50%20',
    '%24',
    '%2524',
    '%2F',
    'wsl$',
    'a b',
    '..',
    '.',
    '',
    'C:',
    'c%3A',
    '%',
  ),
  fc.constantFrom(
    '?q',
    '#1',
    'a\\b',
    '\ud800',
    'all.code-workspace',
    '\u0130',
    'ssh-remote+box',
    'ssh-remote%2BBox',
    'wsl+Box',
  ),
  fc
    .record({
      hostName: fc.constantFrom('box', 'Box', '{"hostName":"box"}', '7b7d', ''),
      user: fc.constantFrom('a', 'b@c'),
    })
    .map((sshHost) => `ssh-remote%2B${hex(JSON.stringify(sshHost))}`),
)
const path = fc.array(segment, { maxLength: 4 })
const root = fc.oneof(
  path.map((names) => `/${names.join('/')}`),
  path.map((names) => `C:\\${names.join('\\')}`),
  path.map((names) => `\\\\${names.join('\\')}`),
  fc
    .tuple(fc.constantFrom('file', 'FILE', 'vscode-remote', 'vscode-vfs'), segment, path)
    .map(([scheme, authority, names]) => `${scheme}://${authority}/${names.join('/')}`),
  fc.string(),
)

test('a normalised root does not change if it is normalised again', () => {
  const isStable = fc.property(root, (given) => {
    const once = normaliseRoot(given)
    return once === null || isDeepStrictEqual(normaliseRoot(once.uri), once)
  })
  expect(() => {
    fc.assert(isStable, { numRuns: 3000 })
  }).not.toThrow()
})
