import { expect, test } from 'vitest'
import { Masking } from '../../../../src/api/export/redact/masking.ts'
import { nameRules, otherRules, tokenRules } from '../../../../src/api/export/redact/rules.ts'
import { fillSecret } from '../../../helpers/fill-secret.ts'

const all = [...tokenRules.rules, ...otherRules, ...nameRules.rules].map(
  (rule, at) => [`${at} ${rule.kind}`, rule] as const,
)

test('the table names more than 200 kinds', () => {
  expect(new Set(all.map(([, { kind }]) => kind)).size).toBeGreaterThan(200)
})

test.each(all)('%s: its example is masked, its counter-example stays', (_, { kind, example, counterExample }) => {
  for (const seed of [1, 2, 3]) {
    const text = fillSecret(example, seed)
    const masking = new Masking()
    expect(masking.maskAtOnce(text)).not.toBe(text)
    expect(masking.counts.map((count) => count.kind)).toContain(kind)
  }
  const harmless = fillSecret(counterExample)
  expect(new Masking().maskAtOnce(harmless)).toBe(harmless)
})
