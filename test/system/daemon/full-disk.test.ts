import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillStore } from '../../helpers/fill-store.ts'
import { cursordexBin, Workplace } from '../../helpers/spawn-cursordex.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

/** Runs commands of the program in a mount namespace where this folder is a disk of this size. */
function onDisk(folder: string, size: string, commands: readonly string[]): string {
  mkdirSync(folder)
  const program = [process.execPath, cursordexBin].map((word) => `'${word}'`).join(' ')
  const flags = place.flags.map((word) => `'${word}'`).join(' ')
  const lines = commands.map((command) =>
    command.startsWith('mount') ? command : `${program} ${command} ${flags} 2>&1`,
  )
  const script = [`mount -t tmpfs -o size=${size},mode=0700 none "$0"`, ...lines].join('\n')
  const { stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, folder], { encoding: 'utf8' })
  return stdout
}

test('a full disk is reported with a remedy, what was read before stays, and the rest is read when there is room', () => {
  fillStore(place.cursor.global(), { chats: 200, messagesPerChat: 20, textLength: 2000 })
  place.cursor.close()
  const said = onDisk(place.dataDir, '4m', ['sync', 'mount -o remount,size=100m "$0"', 'sync', 'status --json'])
  expect(said).toContain(`The disk that holds ${place.dataDir} is full.\nMake room and try again.`)
  expect(said).not.toContain('bug')
  expect(said).toMatch(/"messages": 4000/)
})
