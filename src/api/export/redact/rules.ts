import { contextRules } from './context-rules.ts'
import { anyName, isSecretName, namedRules } from './named-rules.ts'
import type { SecretRule } from './shapes.ts'
import { serviceTokens } from './service-tokens.ts'
import { vendorTokens } from './vendor-tokens.ts'

/** Raised whenever a rule changes: what was shared by older rules is then shared again. */
export const REDACTION_VERSION = 2

/** Rules whose secrets all begin where one search finds something. It is made once instead of hundreds of times. */
export interface RuleGroup {
  /** Global. */
  readonly begins: RegExp
  /** Rejects some of these places at little cost. */
  readonly isBegin: (found: RegExpExecArray) => boolean
  /** Their shapes are sticky. */
  readonly rules: readonly SecretRule[]
}

const group = (
  begins: RegExp,
  rules: readonly SecretRule[],
  isBegin: RuleGroup['isBegin'] = () => true,
): RuleGroup => ({
  begins,
  isBegin,
  rules: rules.map((rule) => ({ ...rule, shape: new RegExp(rule.shape.source, rule.shape.flags.replace('g', 'y')) })),
})

const tokens = [...vendorTokens, ...serviceTokens].map(
  ([kind, shape, example, counterExample, isSecret = () => true]): SecretRule => ({
    kind,
    shape: new RegExp(shape.source, 'g'),
    example,
    counterExample,
    isSecret,
  }),
)
const anyToken = tokens.map(({ shape }) => shape.source).join('|')

/** Secrets that are known by their own look: they are looked for in long words only. */
export const tokenRules = group(new RegExp(`(?<![A-Za-z0-9])(?=[A-Za-z0-9$])(?:${anyToken})`, 'g'), tokens)
/** Secrets that follow their name. */
export const nameRules = group(anyName, namedRules, isSecretName)
/** Secrets that are known by something else around them. */
export const otherRules: readonly SecretRule[] = contextRules
