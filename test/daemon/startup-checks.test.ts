import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startupWarnings } from '../../src/daemon/lifecycle/startup-checks.ts'

const about = (places: readonly string[]): string[] =>
  startupWarnings(places, false).filter((sentence) => sentence.includes('Cursor'))

test('without Cursor the warning names each place that was searched, and a remedy', () => {
  const places = [join(homedir(), 'nowhere'), join(homedir(), 'elsewhere')]
  const [sentence, ...others] = about(places)
  expect(others).toEqual([])
  for (const place of places) expect(sentence).toContain(place)
  expect(sentence).toContain('--cursor-user-dir or --cursor-home')
})

test('without a folder in the settings the warning says so', () => {
  expect(about([])).toEqual([expect.stringContaining('no folder is set')])
})

test('one existing Cursor folder is enough', () => {
  expect(about([join(homedir(), 'nowhere'), mkdtempSync(join(homedir(), 'user-'))])).toEqual([])
})

const accounts = ['root:x:0:0:root:/root:/bin/sh', 'bob:x:1999:1999::/home/bob:/bin/bash', ''].join('\n')

test.runIf(process.platform === 'linux')('with --auth there is no warning to use it', () => {
  const warningsFor = (asksForToken: boolean) => startupWarnings([homedir()], asksForToken, accounts)
  expect(warningsFor(false)).toEqual([expect.stringContaining('Use --auth')])
  expect(warningsFor(true)).toEqual([])
})
