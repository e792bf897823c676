import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { CursorHome } from '../helpers/cursor.ts'

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

const start = (...argv: readonly string[]) => spawnSync(process.execPath, [bin, ...argv], { encoding: 'utf8' })

test('the program prints its version and ends', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(start('--version')).toMatchObject({ status: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test('the built program finds its default settings, and refuses wrong ones with exit code 2', () => {
  const { status, stdout, stderr } = start('status', '--port', 'http')
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^http\.port is "http" \(flag --port\)\.\n/)
})

test('the path of an unreadable store is printed without control characters', () => {
  const home = new CursorHome()
  try {
    const folder = join(home.userDir, 'workspaceStorage', 'a\u001b]0;b\u0007\u009b31m')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'state.vscdb'), 'no database '.repeat(100))
    const places = ['--cursor-user-dir', home.userDir, '--cursor-home', '', '--data-dir', join(home.root, 'data')]
    mkdirSync(join(home.root, 'data'))
    const { status, stderr } = start('chats', ...places)
    expect(status).toBe(0)
    expect(stderr).toContain(String.raw`a\x1b]0;b\x07\x9b31m/state.vscdb`)
    // oxlint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  } finally {
    home.remove()
  }
})
