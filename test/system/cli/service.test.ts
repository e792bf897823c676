import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { childrenOf } from '../../helpers/children-of.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
let unit: string
let env: Record<string, string>
beforeEach(() => {
  place = new Workplace()
  const [home, runtime] = [join(place.root, 'home'), join(place.root, 'run')]
  mkdirSync(home)
  mkdirSync(runtime, { mode: 0o700 })
  env = { HOME: home, XDG_RUNTIME_DIR: runtime, DBUS_SESSION_BUS_ADDRESS: '' }
  unit = join(home, '.config', 'systemd', 'user', 'cursordex.service')
})
afterEach(() => place.remove())

const oddFolder = (): string => join(place.root, String.raw`a b%n $HOME $\{X} "q" 'r' \t ; é`)

/** No user manager answers at the runtime folder, so only the file is written. */
async function install(...flags: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await place.run(['service', 'install'], { env, flags })
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('Run it later: systemctl') })
}

test('systemd-analyze has nothing to complain about, whatever the settings are', async () => {
  await install('--data-dir', oddFolder(), '--host', '0.0.0.0')
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', unit], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: '' })
})

const launcher = fileURLToPath(new URL('service-launcher.py', import.meta.url))

/** The unit under a small supervisor that applies what the unit forbids. */
class Supervised {
  output = ''
  readonly ended: Promise<number | null>
  readonly #process: ChildProcess

  constructor(...replaced: readonly string[]) {
    this.#process = spawn('python3', [launcher, unit, ...replaced], { env: { ...process.env, ...env } })
    this.ended = new Promise((resolve) => this.#process.once('close', resolve))
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    }
  }

  /** The process of each start so far. */
  get starts(): number[] {
    return [...this.output.matchAll(/^started (\d+)$/gm)].map(([, pid]) => Number(pid))
  }

  listening(nth = 1): Promise<string> {
    const look = () => [...this.output.matchAll(/^cursordex listening on (\S+)$/gm)].map(([, url]) => url)[nth - 1]
    return waitUntil(`listening for the ${nth}. time, not only: ${this.output}`, look, { withinMs: 60_000 })
  }

  /** Its exit code is the daemon's. */
  stop(): Promise<number | null> {
    this.#process.kill('SIGTERM')
    return this.ended
  }
}

/** Threads of a process and of all processes below it. Each counts as a task. */
function tasksBelow(pid: number): number {
  try {
    const below = childrenOf(pid).reduce((sum, child) => sum + tasksBelow(child), 0)
    return below + readdirSync(`/proc/${pid}/task`).length
  } catch {
    // It ended meanwhile.
    return 0
  }
}

describe('under the restrictions of the unit (with python3 and libseccomp)', () => {
  let service: Supervised
  beforeEach(() => {
    fillStore(place.cursor.global(), { chats: 3, messagesPerChat: 20 })
  })
  afterEach(() => service.stop())

  /** On a busy machine a search may not end in time, and the client asks again. */
  const search = (url: string) =>
    waitUntil('a search', async () => {
      const response = await fetch(`${url}/api/search?q=chat*`)
      return response.status === 503 ? null : response.json()
    })
  const health = (url: string) => getJson(url, '/api/health')

  test('the daemon answers, stays below TasksMax, and comes back after SIGKILL', async () => {
    await install()
    service = new Supervised('RestartSec=1')
    const url = await service.listening()
    expect(await health(url)).toMatchObject({ status: 'ok' })
    await untilReady(url)
    const [pid = 0] = service.starts
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(status).toMatch(/^Umask:\t0077$/m)

    let tasksMax = 0
    const searches = Array.from({ length: 8 }, () => search(url))
    for (let round = 0; round < 20; round += 1) {
      tasksMax = Math.max(tasksMax, tasksBelow(pid))
      await new Promise((resolve) => {
        setTimeout(resolve, 50)
      })
    }
    for (const answer of await Promise.all(searches)) expect(answer).toMatchObject({ items: expect.any(Array) })
    // A count that misses the threads, or the processes of searches, would be smaller.
    expect(tasksMax).toBeGreaterThan(12)
    expect(tasksMax).toBeLessThan(Number(/^TasksMax=(\d+)$/m.exec(readFileSync(unit, 'utf8'))?.[1]))

    // A job runs in a process of its own, below the same restrictions.
    expect(await place.run(['archive', 'run'], { env })).toMatchObject({ exitCode: 0, stderr: '' })

    process.kill(pid, 'SIGKILL')
    const again = await service.listening(2)
    await untilReady(again)
    expect(await health(again)).toMatchObject({ status: 'ok' })
    expect(await search(again)).toMatchObject({ items: expect.any(Array) })
    expect(service.starts).toHaveLength(2)
    expect(await service.stop()).toBe(0)
    expect(service.output.match(/^ended .*$/gm)).toEqual(['ended -9', 'ended 0'])
  })

  test('settings with odd characters reach the daemon as they were given', async () => {
    const dataDir = oddFolder()
    await install('--data-dir', dataDir)
    service = new Supervised()
    const url = await service.listening()
    expect(JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))).toMatchObject({ url })
  })

  test('wrong settings end the service for good', async () => {
    await install('--config', configFile('{}'))
    configFile('{"http": {"port": "x"}}')
    service = new Supervised('RestartSec=0')
    expect(await service.ended).toBe(2)
    expect(service.starts).toHaveLength(1)
  })

  test('beyond loopback it may ask for the addresses of the machine', async () => {
    await install('--host', '0.0.0.0')
    service = new Supervised()
    expect(await service.listening()).toContain('0.0.0.0')
  })

  test('without network sockets the daemon would not start: what the unit forbids is applied', async () => {
    await install()
    service = new Supervised('RestrictAddressFamilies=AF_UNIX', 'Restart=no')
    await waitUntil('the end', () => /^ended (?!0)/m.test(service.output))
    expect(service.output).not.toContain('listening')
  })

  function configFile(text: string): string {
    const file = join(place.root, 'config.json')
    writeFileSync(file, text)
    chmodSync(file, 0o600)
    return file
  }
})
