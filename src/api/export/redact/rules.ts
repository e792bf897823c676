import table from './rules.json' with { type: 'json' }
import { isSecretName, namedChecks, isBasic, isDense, isGiven, isPlaceholder, isRandom } from './names.ts'

/** Raised whenever a rule changes: what was shared by older rules is then shared again. */
export const REDACTION_VERSION = table.version

/** Compiled from a row of the table. */
export interface SecretRule {
  /** The name that replaces the secret. */
  readonly kind: string
  /** Global, or sticky in a group. If it ends with a group `secret`, only that group is masked. */
  readonly shape: RegExp
  /** Rejects texts that have the form and are no secret. */
  readonly isSecret: (secret: string, match: RegExpExecArray) => boolean
}

/** Rules whose secrets all begin where one search finds something. It is made once instead of hundreds of times. */
export interface RuleGroup {
  /** Global. */
  readonly begins: RegExp
  /** Rejects some of these places at little cost. */
  readonly isBegin: (found: RegExpExecArray) => boolean
  readonly rules: readonly SecretRule[]
}

/**
 * A row of `rules.json`. All repetitions of a pattern are bounded, so that no text makes it backtrack for long. `{NAME}` is
 * one of the table's `parts`. A token may be longer or shorter than its vendor says, because formats change.
 */
interface Row {
  readonly kind: string
  readonly pattern: string
  /** The case of letters does not matter, in `must` and `not` either. */
  readonly anyCase?: boolean
  /** A name in `checks`. */
  readonly check?: string
  /** Patterns of what the secret must, and must not contain. */
  readonly must?: string
  readonly not?: string
  /** A pattern of names, in any case, after which nothing is a secret. */
  readonly notName?: string
  /** A text with such a secret, and one that looks alike and has none. `{hex:32}` stands for 32 random signs, so that no scanner reports the table. */
  readonly example: string
  readonly harmless: string
  readonly note?: string
}

/** What no pattern can say. */
const checks: Readonly<Record<string, SecretRule['isSecret']>> = {
  real: (secret) => !isPlaceholder(secret),
  given: isGiven,
  random: isRandom,
  dense: isDense,
  basic: isBasic,
  ...namedChecks,
}

const parts: Readonly<Record<string, string>> = table.parts

const expanded = (pattern: string): string =>
  pattern.replaceAll(/\{([A-Z]+)\}/g, (_, name: string) => expanded(parts[name] ?? ''))

function compile(row: Row, flag: 'g' | 'y'): SecretRule {
  const letters = row.anyCase === true ? 'i' : ''
  const [must, not] = [row.must, row.not].map((each) => (each === undefined ? null : new RegExp(each, letters)))
  const notName = row.notName === undefined ? null : new RegExp(row.notName, 'i')
  const check = row.check === undefined ? null : checks[row.check]
  if (check === undefined) throw new Error(`rules.json: ${row.kind} has the unknown check ${row.check}`)
  return {
    kind: row.kind,
    shape: new RegExp(expanded(row.pattern), `${flag}${letters}`),
    isSecret: (secret, match) =>
      must?.test(secret) !== false &&
      not?.test(secret) !== true &&
      notName?.test(match.groups?.['name'] ?? '') !== true &&
      check?.(secret, match) !== false,
  }
}

const compileTable = () => ({
  /** Secrets that are known by their own look: they are looked for in long words only. */
  tokens: {
    begins: new RegExp(
      `(?<![A-Za-z0-9])(?=[A-Za-z0-9$])(?:${table.tokens.map(({ pattern }) => pattern).join('|')})`,
      'g',
    ),
    isBegin: () => true,
    rules: table.tokens.map((row) => compile(row, 'y')),
  },
  /** Secrets that follow their name, in every spelling of files, programs and people. */
  named: {
    begins: new RegExp(expanded(table.named.begins), 'gi'),
    isBegin: isSecretName,
    rules: table.named.rules.map((row) => compile(row, 'y')),
  },
  /** Secrets that are known by something else around them. */
  others: table.others.map((row) => compile(row, 'g')),
})

let rules: ReturnType<typeof compileTable> | null = null

/** Compiled when masking is first needed. */
export const secretRules = () => (rules ??= compileTable())
