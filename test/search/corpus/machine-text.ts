import type { Chance } from '../../../src/sample/chance.ts'

const nouns = [
  'order',
  'item',
  'user',
  'rate',
  'tile',
  'row',
  'event',
  'label',
  'token',
  'price',
  'queue',
  'route',
] as const
const verbs = ['get', 'load', 'merge', 'parse', 'render', 'update', 'reset', 'count', 'check', 'format'] as const
const folders = ['src/api', 'src/core', 'lib/util', 'app/pages', 'internal/store', 'packages/ui/src', 'jobs'] as const

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

export const camelName = (chance: Chance): string =>
  `${chance.pick(verbs)}${capital(chance.pick(nouns))}${capital(chance.pick(nouns))}`

export const snakeName = (chance: Chance): string => `${chance.pick(verbs)}_${chance.pick(nouns)}_${chance.pick(nouns)}`

export const filePath = (chance: Chance): string =>
  `${chance.pick(folders)}/${chance.pick(verbs)}-${chance.pick(nouns)}.${chance.pick(['ts', 'py', 'go', 'rs', 'java'])}`

type Snippet = (chance: Chance) => string

const snippets: readonly [Snippet, ...Snippet[]] = [
  (chance) =>
    `export function ${camelName(chance)}(${chance.pick(nouns)}: string): number {\n  return ${camelName(chance)}().length\n}`,
  (chance) =>
    `def ${snakeName(chance)}(${chance.pick(nouns)}):\n    return ${snakeName(chance)}(${chance.pick(nouns)}) or None`,
  (chance) => `func ${capital(camelName(chance))}(ctx context.Context) error {\n\treturn ${camelName(chance)}(ctx)\n}`,
  (chance) =>
    `select ${chance.pick(nouns)}_id, count(*) from ${chance.pick(nouns)}s where ${chance.pick(nouns)} = ${chance.between(1, 999)}`,
  (chance) => `fn ${snakeName(chance)}(&self) -> Option<${capital(chance.pick(nouns))}> { None }`,
]

const languages = ['ts', 'py', 'go', 'sql', 'rust'] as const

export function snippet(chance: Chance): { readonly language: string; readonly text: string } {
  const at = chance.between(0, snippets.length - 1)
  return { language: languages[at] ?? 'ts', text: (snippets[at] ?? snippets[0])(chance) }
}

const faults = [
  'TypeError: Cannot read properties of undefined',
  'Error: timeout of 3000 ms exceeded',
  'panic: runtime error: invalid memory address',
  'KeyError',
  'java.lang.NullPointerException',
] as const

export function trace(chance: Chance): string {
  const frames = Array.from(
    { length: chance.between(2, 6) },
    () => `    at ${camelName(chance)} (${filePath(chance)}:${chance.between(1, 400)}:${chance.between(1, 80)})`,
  )
  return [chance.pick(faults), ...frames].join('\n')
}

export function log(chance: Chance): string {
  const line = (): string => {
    const second = String(chance.between(10, 59))
    const subject = chance.pick([chance.hex(12), chance.uuid(), filePath(chance), snakeName(chance)])
    return `12:${second}:07 ${chance.pick(['INFO', 'WARN', 'ERROR'])} ${chance.pick(nouns)} ${subject} took ${chance.between(1, 900)} ms`
  }
  return Array.from({ length: chance.between(3, 12) }, line).join('\n')
}
