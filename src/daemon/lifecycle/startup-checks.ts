import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'
import { namesLivingDaemon } from '../../engine/data-folder.ts'

/**
 * Warnings about the machine for the start of the daemon. Each is a sentence with a remedy.
 * @param places all `User` folders and homes where Cursor may have chats
 * @param accounts the contents of `/etc/passwd`
 */
export function startupWarnings(
  places: readonly string[],
  asksForToken: boolean,
  accounts = readText('/etc/passwd'),
): string[] {
  return [...noCursor(places), ...(asksForToken ? [] : otherPeople(accounts))]
}

function noCursor(places: readonly string[]): string[] {
  if (places.some((place) => existsSync(place))) return []
  const searched = places.length === 0 ? 'nowhere, because no folder is set' : `in ${places.join(', ')}`
  const isWindowsBelow = process.platform === 'linux' && /microsoft/i.test(readText('/proc/version'))
  const remedy = isWindowsBelow
    ? 'The files of a Cursor on the Windows side of this WSL cannot be read safely from here: then run cursordex in Windows.'
    : 'cursordex waits for it to appear.'
  return [
    `No Cursor found: looked ${searched}. ${remedy} Name another folder with --cursor-user-dir or --cursor-home, or see it work without Cursor: cursordex demo.`,
  ]
}

function otherPeople(accounts: string): string[] {
  if (process.platform !== 'linux') return []
  const us = process.getuid?.()
  const others = accounts
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      ([, , uid, , , , shell]) => Number(uid) >= 1000 && Number(uid) < 60_000 && Number(uid) !== us && isShell(shell),
    )
  if (others.length === 0) return []
  return ['Other people have accounts on this machine and can reach the HTTP port. Use --auth to require the token.']
}

const isShell = (shell: string | undefined): boolean => shell !== undefined && !/(nologin|false|sync)$/.test(shell)

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The file is missing or unreadable.
    return ''
  }
}

/** The same time as commands wait for each other. */
const WAIT_MS = 30_000
/** How long another daemon, which may be stopping, has to release the lock. */
const DAEMON_WAIT_MS = 1500
const TRY_EVERY_MS = 100

/**
 * Starts something that takes the lock until it ends. A command that reads Cursor without a daemon has the lock, maybe for
 * as long as a first pass takes. While it waits, nothing is open.
 * @param onWait is called once if a command has the lock
 * @param isStopping ends the waiting
 * @returns null if `isStopping` became true while it waited
 */
export async function startUnlessRead<Started>(
  dataDir: string,
  start: () => Promise<Started>,
  onWait: () => void,
  isStopping: () => boolean,
): Promise<Started | null> {
  const beganAtMs = Date.now()
  for (let isSaid = false; !isStopping(); await sleep(TRY_EVERY_MS)) {
    try {
      return await start()
    } catch (error) {
      const isLocked = error instanceof UserError && error.code === 'already-running'
      const isDaemon = namesLivingDaemon(dataDir)
      if (!isLocked || Date.now() - beganAtMs >= (isDaemon ? DAEMON_WAIT_MS : WAIT_MS)) throw error
      if (!isDaemon && !isSaid) onWait()
      isSaid ||= !isDaemon
    }
  }
  return null
}
