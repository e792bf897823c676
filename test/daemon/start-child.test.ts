import { existsSync, readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { startChild } from '../../src/daemon/start-child.ts'

afterEach(() => vi.unstubAllEnvs())

// Only Linux tells what another process was started with.
test.runIf(existsSync('/proc/self/environ'))(
  'a process of the daemon does not take apart certificates that it has no use for, and keeps all other settings',
  () => {
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/etc/ssl/certs/ca-certificates.crt')
    vi.stubEnv('LC_PAPER', 'nb_NO')
    const child = startChild('check-child', ['/nowhere/mirror.db'])
    try {
      const words = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0')
      expect(words.filter((word) => /^(?:NODE_EXTRA_CA_CERTS|LC_PAPER)=/.test(word))).toEqual(['LC_PAPER=nb_NO'])
    } finally {
      child.kill('SIGKILL')
    }
  },
)
