import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))

/** Static imports only. Dynamic imports are loaded later, if they are needed. */
const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:^|;)\s*import\s*(?:[^"(]*from\s*)?"(\.[^"]+)"/gm)].map(([, target]) =>
    resolve(dirname(file), target ?? ''),
  )

function sourcesOf(file: string): string[] {
  const map = `${file}.map`
  if (!existsSync(map)) return []
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] }
  return sources.map((source) => source.replace(/^(\.\.\/)+/, ''))
}

/** The chunks of the command line and the daemon. Other programs have their own chunks. */
const chunks = readdirSync(join(dist, 'chunks'))
  .filter((name) => name.startsWith('bin-'))
  .map((name) => join(dist, 'chunks', name))

/** The sources that are loaded together with one source file. */
function loadedWith(source: string): string[] {
  const files = chunks.filter((chunk) => sourcesOf(chunk).includes(source))
  expect(files).toHaveLength(1)
  for (const each of files) files.push(...importsOf(each).filter((target) => !files.includes(target)))
  return files.flatMap(sourcesOf)
}

const countIn = (sources: readonly string[], folder: string): number =>
  sources.filter((source) => source.startsWith(folder)).length

test.each(['main', 'commands/search', 'commands/serve'])('%s is loaded without the daemon and the sample', (name) => {
  const sources = loadedWith(`src/cli/${name}.ts`)
  const heavy = ['src/daemon/', 'src/demo/', 'src/indexer/', 'node_modules/hono/']
  expect(heavy.filter((each) => countIn(sources, each) > 0)).toEqual([])
})

test.each(['search', 'lists', 'show', 'tokens', 'stats', 'status', 'purge', 'archive'])(
  'the command %s is loaded without the schemas of answers',
  (name) => {
    const sources = [...loadedWith(`src/cli/commands/${name}.ts`), ...loadedWith('src/cli/client/client.ts')]
    expect(sources.filter((source) => source.startsWith('src/api/answers/'))).toEqual([])
  },
)

test('the rules for secrets are only loaded if they are used', () => {
  for (const source of ['src/daemon/server/answer.ts', 'src/daemon/main.ts', 'src/cli/main.ts']) {
    expect(countIn(loadedWith(source), 'src/api/export/redact/')).toBe(0)
  }
  expect(countIn(loadedWith('src/api/export/redact/masking.ts'), 'src/api/export/redact/')).toBeGreaterThan(0)
})

test('the daemon opens its port before it loads the HTTP code', () => {
  const daemon = loadedWith('src/daemon/main.ts')
  const late = ['node_modules/hono/', 'node_modules/@hono/', 'node_modules/temporal-polyfill/', 'src/demo/']
  expect(late.filter((each) => countIn(daemon, each) > 0)).toEqual([])
  expect(countIn(loadedWith('src/daemon/server/answer.ts'), 'node_modules/hono/')).toBeGreaterThan(0)
})
