import { existsSync, readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { startChild } from '../../src/engine/start-child.ts'

afterEach(() => vi.unstubAllEnvs())

// Only Linux shows the environment of another process.
const canLook = existsSync('/proc/self/environ')

/** @returns the values of these environment variables in a process of the daemon */
function settingsOfChild(names: RegExp): string[] {
  const child = startChild(['check-terms', '/nowhere/mirror.db'])
  try {
    const words = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0')
    return words.filter((word) => names.test(word))
  } finally {
    child.kill('SIGKILL')
  }
}

test.runIf(canLook)(
  'a process of the daemon does not take apart certificates that it has no use for, and keeps all other settings',
  () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/ssl/certs/ca-certificates.crt')
    vi.stubEnv('LC_PAPER', 'nb_NO')
    expect(settingsOfChild(/^(?:NODE_EXTRA_CA_CERTS|LC_PAPER)=/)).toEqual(['LC_PAPER=nb_NO'])
  },
)

test.runIf(canLook)('a process of the daemon has one memory arena, unless the user sets more', () => {
  vi.stubEnv('MALLOC_ARENA_MAX', undefined)
  expect(settingsOfChild(/^MALLOC_ARENA_MAX=/)).toEqual(['MALLOC_ARENA_MAX=1'])
  vi.stubEnv('MALLOC_ARENA_MAX', '4')
  expect(settingsOfChild(/^MALLOC_ARENA_MAX=/)).toEqual(['MALLOC_ARENA_MAX=4'])
})
