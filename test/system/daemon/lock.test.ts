import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { takeLock } from '../../../src/engine/lock.ts'
import { UserError } from '../../../src/model/user-error.ts'
import { Compiled } from '../../helpers/compiled.ts'

const newFolder = (): string => mkdtempSync(join(homedir(), 'lock-'))

const compiled = await Compiled.module('engine/lock')
afterAll(() => compiled.remove())

/** Another process that takes the lock and runs until it is killed. */
async function otherOwner(folder: string) {
  const script = `
    const { takeLock } = await import(${JSON.stringify(compiled.url)})
    globalThis.lock = takeLock(${JSON.stringify(folder)})
    console.log('taken')
    setInterval(() => undefined, 1000)
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

function errorOf(act: () => unknown): UserError {
  try {
    act()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('there was no error')
}

test('a folder that another process has locked is refused with exit code 3, after the requested wait', async () => {
  const folder = newFolder()
  const owner = await otherOwner(folder)
  try {
    const startedAt = performance.now()
    expect(errorOf(() => takeLock(folder))).toMatchObject({ code: 'already-running', exitCode: 3 })
    expect(performance.now() - startedAt).toBeLessThan(2000)
    const waitedFrom = performance.now()
    expect(errorOf(() => takeLock(folder, 3000)).message).toContain(folder)
    expect(performance.now() - waitedFrom).toBeGreaterThan(2500)
  } finally {
    owner.kill('SIGKILL')
  }
})

test('the lock of a killed process is free at once', async () => {
  const folder = newFolder()
  const owner = await otherOwner(folder)
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  const lock = takeLock(folder)
  expect(lock).toBeDefined()
  lock.release()
})

test('a lock that was released can be taken again, and two folders do not share one', () => {
  const [one, two] = [newFolder(), newFolder()]
  const first = takeLock(one)
  const second = takeLock(two)
  first.release()
  const again = takeLock(one)
  expect(new Set([first, second, again]).size).toBe(3)
  again.release()
  second.release()
})

test.runIf(process.platform !== 'win32')('only the user can access the lock file', () => {
  const folder = newFolder()
  const lock = takeLock(folder)
  expect(statSync(join(folder, 'daemon.lock')).mode & 0o777).toBe(0o600)
  lock.release()
})
