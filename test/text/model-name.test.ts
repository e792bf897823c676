import { expect, test } from 'vitest'
import { listedModel, modelFamily, modelLabel } from '../../src/text/tokens/model-name.ts'

test.each([
  ['claude-4.5-sonnet', 'claude-sonnet-4-5'],
  ['claude-4.5-sonnet-thinking', 'claude-sonnet-4-5-20250929'],
  ['anthropic/claude-sonnet-4.5', 'claude-4.5-sonnet-high-thinking'],
  ['claude-4-sonnet', 'claude-sonnet-4-0'],
  ['claude-3.5-sonnet', 'claude-3-5-sonnet-latest'],
  ['gpt-5-codex-high', 'gpt-5-codex'],
  ['gpt-5-fast', 'gpt-5'],
  ['gemini-3-pro-preview', 'gemini-3-pro'],
  ['auto', 'default'],
])('%s and %s are the same model', (one, other) => {
  expect(modelFamily(one)).toBe(modelFamily(other))
})

test.each([
  ['gpt-5', 'gpt-5-codex'],
  ['gpt-5.1-codex', 'gpt-5.1-codex-max'],
  ['gpt-5', 'gpt-5-mini'],
  ['claude-4.5-sonnet', 'claude-4.5-opus'],
  ['claude-4-sonnet', 'claude-4.5-sonnet'],
  ['composer-1', 'auto'],
  ['grok-4', 'grok-4-fast'],
  ['kimi-k2', 'kimi-k2-thinking'],
  ['mistral', 'mistral-medium'],
])('%s and %s are different models', (one, other) => {
  expect(modelFamily(one)).not.toBe(modelFamily(other))
})

test.each([
  ['claude-4.5-sonnet', 'claude-sonnet-4-5'],
  ['claude-4.1-opus-thinking', 'claude-opus-4-1'],
  ['gpt-5-codex-high', 'gpt-5-codex'],
  ['gemini-3-pro', 'gemini-3-pro-preview'],
  ['kimi-k2-thinking', 'kimi-k2-thinking'],
  ['grok-4-fast', 'grok-4-fast'],
  ['mistral-medium', 'mistral-medium'],
  // Faster answers have a higher price, which no list contains.
  ['gpt-5-fast', null],
  ['auto', null],
  ['default', null],
])('the price of %s is looked up as %s', (name, listed) => {
  expect(listedModel(name)).toBe(listed)
})

test('an unknown or chosen model is labelled as such', () => {
  expect([modelLabel(null), modelLabel('auto'), modelLabel('gpt-5')]).toEqual([
    'unknown model',
    'auto (chosen by Cursor)',
    'gpt-5',
  ])
})
