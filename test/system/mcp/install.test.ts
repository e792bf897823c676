import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Cursordex, cursordexBin, type Ended } from '../../helpers/spawn-cursordex.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-install-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const file = (): string => join(root, 'mcp.json')
const install = (...words: readonly string[]): Promise<Ended> =>
  new Cursordex(['mcp', 'install', 'cursor', '--yes', '--file', file(), ...words]).ended

/** What is added under this indent, as JSON. */
const launch = JSON.stringify({ command: process.execPath, args: [cursordexBin, 'mcp'] })

interface Kept {
  readonly what: string
  readonly before: string
  /** What stands before and after the new member, all bytes of it. */
  readonly around: readonly [string, string]
}

const kept: readonly Kept[] = [
  {
    what: 'comments, odd spaces and order',
    before:
      '// top\n{ "z" :1,\n    "mcpServers": {\n        "other" : { "command":"x" } // mine\n    },\n    /* end */ "a": [1,2 ]\n}\n',
    around: [
      '// top\n{ "z" :1,\n    "mcpServers": {\n        "other" : { "command":"x" }, // mine',
      '\n    },\n    /* end */ "a": [1,2 ]\n}\n',
    ],
  },
  { what: 'no final newline', before: '{"mcpServers":{}}', around: ['{"mcpServers":{', '}}'] },
  {
    what: 'a BOM, tabs and CRLF',
    before: '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"b": {}\r\n\t}\r\n}\r\n\r\n',
    around: ['\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"b": {},\r\n\t\t', '\r\n\t}\r\n}\r\n\r\n'],
  },
  {
    what: 'other members only',
    before: '{\n  "a": 1e3\n}',
    around: ['{\n  "a": 1e3,\n  "mcpServers": {\n', '\n  }\n}'],
  },
  { what: 'nothing', before: '', around: ['{\n', '}\n'] },
]

test.each(kept)(
  'mcp install keeps every byte that it does not change: $what',
  async ({ before, around: [head, tail] }) => {
    writeFileSync(file(), before, { mode: 0o640 })
    expect(await install()).toMatchObject({ exitCode: 0, stderr: '' })
    const after = readFileSync(file(), 'utf8')
    expect([after.slice(0, head.length), after.slice(-tail.length)]).toEqual([head, tail])
    const added = after.slice(head.length, -tail.length).replaceAll(/\s/g, '')
    expect(added).toContain(`"cursordex":${launch}`)
    expect(statSync(file()).mode & 0o777).toBe(0o640)
    expect(readdirSync(root)).toEqual(['mcp.json'])
    expect(await install()).toMatchObject({ exitCode: 0, stdout: `${file()} needs no change.\n` })
  },
)

test.each([
  ['an array', '{"mcpServers":[]}', 'has "mcpServers" as array'],
  ['two of them', '{"mcpServers":{},"mcpServers":{}}', 'has "mcpServers" twice'],
  ['its own name twice', '{"mcpServers":{"cursordex":1,"cursordex":2}}', 'has "cursordex" twice'],
  ['brackets without an end', '['.repeat(1_000_000), 'is not a JSON object'],
  ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'is not UTF-8'],
])('mcp install refuses a file with %s, names it, and changes nothing', async (_, content, sentence) => {
  writeFileSync(file(), content)
  const { exitCode, stderr } = await install()
  expect([exitCode, stderr.split('\n').length, stderr]).toEqual([
    1,
    3,
    expect.stringContaining(`${file()} ${sentence}`),
  ])
  expect(readFileSync(file()).equals(Buffer.from(content))).toBe(true)
})

test('mcp install took a program called claude from the current folder or a project, and now takes only an installed one', async () => {
  const folders = ['installed', 'node_modules/.bin', '.'].map((name) => join(root, name))
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'claude'), `#!/bin/sh\necho "$0 $*" >> ${root}/calls\n`, { mode: 0o755 })
  }
  const [installed = '', ofProject = ''] = folders
  const path = (...names: readonly string[]): Readonly<Record<string, string>> => ({ PATH: names.join(delimiter) })
  const run = (env: Readonly<Record<string, string>>): Promise<Ended> =>
    new Cursordex(['mcp', 'install', 'claude', '--yes'], { env, cwd: root }).ended
  expect((await run(path('.', '', ofProject))).stdout).toMatch(/^claude is not on your PATH/)
  expect(existsSync(join(root, 'calls'))).toBe(false)
  expect(await run(path('.', ofProject, installed, '/bin'))).toMatchObject({ exitCode: 0 })
  expect(readFileSync(join(root, 'calls'), 'utf8')).toMatch(new RegExp(`^${installed}/claude mcp add cursordex --`))
})
