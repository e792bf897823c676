import { readFileSync } from 'node:fs'
import type { Part } from '../../src/model/part.ts'
import { fillSecret } from './fill-secret.ts'

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8'))

/** Templates of `fillSecret`: tokens that are known by their look, and texts in which «signs» enclose what must not leave. */
const { tokens, places } = read('secrets.json') as Readonly<
  Record<'tokens' | 'places', Readonly<Record<string, readonly string[]>>>
>

/** Texts of which nothing is masked. */
export const harmless = (read('harmless.json') as readonly string[]).map((text) => fillSecret(text))

export interface SecretText {
  readonly kind: string
  readonly text: string
  readonly secrets: readonly string[]
}

const spellings: readonly ((token: string) => string)[] = [
  (token) => `use «${token}» for it, and go on`,
  (token) => JSON.stringify({ stdout: JSON.stringify({ value: `first\n«${token}»` }) }),
  (token) => `SHOP_A: '«${token}»'\nexport SHOP_B=«${token}»`,
]

/** Every kind of secret, in each spelling. */
export const secretTexts: readonly SecretText[] = [
  ...Object.entries(tokens).flatMap(([kind, all]) =>
    all.flatMap((token) => spellings.map((spell) => [kind, spell(token)] as const)),
  ),
  ...Object.entries(places).flatMap(([kind, all]) => all.map((text) => [kind, text] as const)),
].map(([kind, template]) => {
  const filled = fillSecret(template)
  const secrets = [...filled.matchAll(/«([^»]*)»/g)].flatMap(([, secret = '']) => secret.split('\n'))
  return { kind, text: filled.replaceAll(/[«»]/g, ''), secrets }
})

export const secretKinds = new Set(secretTexts.map(({ kind }) => kind))

/** A text in each kind of part. */
export const inEachPart = (text: string): readonly Part[] => [
  { kind: 'text', text },
  { kind: 'thinking', text: `They said:\n${text}\n`, durationMs: null },
  { kind: 'code', language: 'sh', path: '/tmp/a.sh', text: `# begin\n${text}\n# end` },
  {
    kind: 'tool',
    name: 'run_terminal_cmd',
    status: 'completed',
    callId: 'c1',
    input: { command: text, list: ['a', text] },
    output: JSON.stringify({ output: text, exitCode: 0 }),
    error: null,
    paths: [],
  },
]

/** What must not be found: a secret, or the first and the last third of what is random. Each names its kind. */
const needles = new Map(
  secretTexts.flatMap(({ kind, text, secrets }) =>
    secrets.flatMap((secret) => {
      const third = Math.ceil(secret.length / 3)
      const isRandom = secret.length >= 24 && /\d/.test(secret)
      const parts = isRandom ? [secret.slice(0, third), secret.slice(-third)] : [secret]
      return parts.map((part) => [part, `${kind}: ${text.slice(0, 200)}`] as const)
    }),
  ),
)

/** The kinds of the secrets of which a text contains something. */
export const leaksIn = (output: string): string[] =>
  [...needles].flatMap(([needle, kind]) => (output.includes(needle) ? [kind] : []))
