import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const UNPACKED_BYTES_MAX = 7_500_000

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

let folder: string
let packed: Packed
let installed: string
let place: Workplace

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-package-'))
  const output = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  packed = (JSON.parse(output) as Packed[])[0] as Packed
  // As npm installs it. Its dependencies come from this checkout, because an installation needs the network.
  const modules = join(folder, 'lib', 'node_modules')
  installed = join(modules, 'cursordex')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', installed])
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    readonly dependencies: object
    readonly optionalDependencies: object
  }
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, bindings: '', 'file-uri-to-path': '' })) {
    if (!existsSync(join(root, 'node_modules', name))) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 5, messagesPerChat: 6 })
  place.cursor.workspace('w1', { folder: `file://${join(folder, 'shop')}` }, ['chat-0'])
})
afterAll(async () => {
  await place?.remove()
  rmSync(folder, { recursive: true, force: true })
})

const bin = (): string => join(installed, 'dist', 'cli', 'bin.js')

test('the package is small, and has no source maps, tests or sources', () => {
  expect(packed.unpackedSize).toBeLessThan(UNPACKED_BYTES_MAX)
  const odd = packed.files.filter(({ path }) => /\.map$|^(src|test|scripts|\.)/.test(path))
  expect(odd).toEqual([])
  const licences = readFileSync(join(installed, 'dist', 'THIRD-PARTY-LICENSES.txt'), 'utf8')
  for (const name of ['hono', 'minisearch', 'node-cron', 'preact'])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
})

test('every link in README and docs leads to a file of the package', () => {
  const texts = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.md'))
  expect(texts).toContain('README.md')
  const broken = texts.flatMap((path) => {
    const links = readFileSync(join(installed, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)
    return [...links]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link) && !existsSync(join(installed, dirname(path), link)))
      .map((link) => `${path}: ${link}`)
  })
  expect(broken).toEqual([])
})

/** The commands of a text: lines of code blocks, and code in tables. */
function commandsIn(text: string): string[] {
  const lines = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
  const cells = [...text.matchAll(/^\|[^|]+\|(.*)\|$/gm)].flatMap(
    ([, cell = '']) => cell.match(/`(cursordex [^`]*)`/g) ?? [],
  )
  return [...lines, ...cells.map((cell) => cell.slice(1, -1))]
    .map((line) => line.replace(/ {2,}#.*/, ''))
    .filter((line) => /^(?:cursordex|curl) /.test(line))
}

/** They change the machine outside the test's folders, open a browser, or do not end. */
const notTried = /^cursordex (?:service|open|mcp)|curl -N/

test('every command of README works in a shell', async () => {
  const { daemon, url } = await place.serve([], { bin: bin() })
  await untilReady(url)
  const { items } = await getJson<{ readonly items: readonly { readonly id: string }[] }>(url, '/api/chats')
  const repository = join(folder, 'shop')
  mkdirSync(repository)
  execFileSync('git', ['init', '--quiet', repository])
  const shim = join(folder, 'bin')
  mkdirSync(shim)
  writeFileSync(join(shim, 'cursordex'), `#!/bin/sh\nexec '${process.execPath}' '${bin()}' "$@"\n`, { mode: 0o755 })
  const env = { ...process.env, PATH: `${shim}:${process.env['PATH']}`, CURSORDEX_DATA_DIR: place.dataDir }
  const tried = commandsIn(readFileSync(join(installed, 'README.md'), 'utf8')).filter((line) => !notTried.test(line))
  expect(tried.length).toBeGreaterThan(20)
  for (const written of tried) {
    const line = written.replace('<chatId>', items[0]?.id ?? '').replace('http://127.0.0.1:4870', url)
    const { status, stderr } = spawnSync('bash', ['-c', line.replace('curl ', 'curl --fail ')], {
      cwd: repository,
      env,
      encoding: 'utf8',
      input: '',
    })
    // Without a condition a purge removes nothing, and says so.
    const isRefused = line === 'cursordex purge' && status === 2 && stderr.includes('Nothing to purge is named.')
    // A search or a list that finds nothing ends with 1, and is no mistake.
    const isNothing = status === 1 && /^cursordex (?:search|chats|losses|commits|archive)\b/.test(line)
    expect({ line, status: isRefused || isNothing ? 0 : status, stderr: status === 0 ? '' : stderr }).toMatchObject({
      status: 0,
    })
  }
  await daemon.stop()
})

test('the installed program runs its demo, whose commands have no npx', async () => {
  const demo = place.start(['demo'], { bin: bin(), isBare: true })
  await waitUntil('the greeting', () => demo.stdout.includes('Ctrl-C'))
  expect(demo.stdout).toMatch(/^  cursordex search getUserName --demo$/m)
  expect(demo.stdout).toMatch(/\(\d{3} messages, \d+ chats, 7 projects\)/)
  await demo.stop()
})

test('the installed program serves the page and the API, and a daemon of another version is noticed', async () => {
  const { url } = await place.serve([], { bin: bin() })
  await untilReady(url)
  const page = await fetch(`${url}/`)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  const [script] = /\/assets\/[^"]+\.js/.exec(await page.text()) ?? []
  expect((await fetch(`${url}${script}`)).status).toBe(200)
  expect(((await (await fetch(`${url}/openapi.json`)).json()) as { readonly openapi: string }).openapi).toBe('3.1.0')
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { readonly version: string }
  const told = await place.run(['--version'], { bin: bin(), isBare: true })
  expect(told).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
  expect(statSync(bin()).mode & 0o111).not.toBe(0)
  const upgraded = join(installed, 'package.json')
  writeFileSync(upgraded, readFileSync(upgraded, 'utf8').replace(`"version": "${version}"`, '"version": "9.9.9"'))
  const { exitCode, stderr } = await place.run(['chats'], { bin: bin() })
  expect(exitCode).toBe(0)
  expect(stderr).toBe(
    `The daemon has version ${version}, and this command has 9.9.9. Restart the daemon: cursordex service restart.\n`,
  )
})
