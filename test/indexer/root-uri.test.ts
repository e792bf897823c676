import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { normaliseRoot } from '../../src/indexer/projects/root-uri.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

test.each(cases<[string, string, string, string]>('is'))('%s is %s', (given, uri, path, name) => {
  expect(normaliseRoot(given)).toEqual({ uri, path, name, remote: null })
})

const hex = (text: string): string => Buffer.from(text).toString('hex')

test.each(cases<[string, string, string]>('is on another machine'))('%s is on another machine', (uri, kind, host) => {
  expect(normaliseRoot(uri)).toMatchObject({ path: '/srv/app', name: 'app', remote: { kind, host } })
})

test.each(cases<[string, string]>('a folder over SSH is one project in every spelling of its host'))(
  'a folder over SSH is one project in every spelling of its host: %s',
  (sshHost, plain) => {
    const [first, ...others] = [
      `ssh-remote%2B${hex(sshHost)}`,
      `ssh-remote+${hex(sshHost).toUpperCase()}`,
      `ssh-remote+${encodeURIComponent(sshHost)}`,
      `ssh-remote%2B${encodeURIComponent(plain)}`,
    ].map((authority) => normaliseRoot(`vscode-remote://${authority}/srv/app`))
    expect(first?.uri).toBe(`vscode-remote://${encodeURIComponent(`ssh-remote+${plain}`)}/srv/app`)
    for (const other of others) expect(other).toEqual(first)
  },
)

test('a folder in WSL is one project, whatever the case of its distribution', () => {
  const [inText, inParts] = ['wsl%2Bubuntu', 'wsl+Ubuntu'].map((authority) =>
    normaliseRoot(`vscode-remote://${authority}/home/ada/Shop`),
  )
  for (const share of [
    '\\\\wsl$\\Ubuntu\\home\\ada\\Shop',
    'file://wsl%24/Ubuntu/home/ada/Shop',
    'file://WSL.localhost/ubuntu/home/ada/Shop',
  ])
    expect(normaliseRoot(share)).toEqual(inText)
  expect(inParts).toEqual(inText)
  expect(inText?.path).toBe('/home/ada/Shop')
})

test.each(cases<[string, string]>('an authority that names more than a host, or no host, is unchanged'))(
  'an authority that names more than a host, or no host, is unchanged: %s %s',
  (kind, sshHost) => {
    const authority = `${kind}+${hex(sshHost)}`
    expect(normaliseRoot(`vscode-remote://${authority}/srv/app`)?.uri).toBe(
      `vscode-remote://${encodeURIComponent(authority)}/srv/app`,
    )
  },
)

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
    fc.assert(isStable, { numRuns: 3000, examples: [['file://wsl$//Ubuntu'], ['file://wsl$/./Ubuntu/x']] })
  }).not.toThrow()
})
