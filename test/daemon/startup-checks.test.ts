import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startupWarnings } from '../../src/daemon/lifecycle/startup-checks.ts'

const about = (places: readonly string[]): string[] =>
  startupWarnings(places, false).filter((sentence) => sentence.includes('Cursor'))

test('with no Cursor each place that was looked at is named, and the remedy', () => {
  const places = [join(homedir(), 'nowhere'), join(homedir(), 'elsewhere')]
  const [sentence, ...others] = about(places)
  expect(others).toEqual([])
  for (const place of places) expect(sentence).toContain(place)
  expect(sentence).toContain('--cursor-user-dir or --cursor-home')
})

test('with no folder set it says so', () => {
  expect(about([])).toEqual([expect.stringContaining('no folder is set')])
})

test('one Cursor of several is enough', () => {
  expect(about([join(homedir(), 'nowhere'), mkdtempSync(join(homedir(), 'user-'))])).toEqual([])
})

const accounts = ['root:x:0:0:root:/root:/bin/sh', 'bob:x:1999:1999::/home/bob:/bin/bash', ''].join('\n')

test.runIf(process.platform === 'linux')('who started it with --auth is not told to turn it on', () => {
  const told = (asksForToken: boolean) => startupWarnings([homedir()], asksForToken, accounts)
  expect(told(false)).toEqual([expect.stringContaining('Use --auth')])
  expect(told(true)).toEqual([])
})
