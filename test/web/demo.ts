import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '../helpers/wait-until.ts'

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

/** `cursordex demo`, as a newcomer starts it. */
export class Demo {
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string

  private constructor(url: string, child: ChildProcess, folder: string) {
    this.url = url
    this.#child = child
    this.#folder = folder
  }

  static async start(): Promise<Demo> {
    const folder = mkdtempSync(join(tmpdir(), 'cursordex-web-'))
    const argv = [bin, 'demo', '--port', '0', '--data-dir', join(folder, 'data')]
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    const urlIn = (): string | undefined => /listening on (http:\S+)/.exec(output)?.[1]
    await waitUntil('the demo', () => urlIn() !== undefined)
    const demo = new Demo(urlIn() ?? '', child, folder)
    await waitUntil('its chats', async () => (await demo.get<{ state: string }>('/api/status')).state === 'ready')
    return demo
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
