import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

const start = (...argv: readonly string[]) => spawnSync(process.execPath, [bin, ...argv], { encoding: 'utf8' })

test('the program starts, tells its version and ends', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(start('--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test('the compiled program finds its shipped settings, and refuses wrong ones with exit code 2', () => {
  const { status, stdout, stderr } = start('status', '--port', 'http')
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^http\.port is "http" \(flag --port\)\.\n/)
})
