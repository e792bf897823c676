import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Status } from '../api/answers/status.ts'
import { readHome } from '../demo/packed.ts'
import { makeRepository, userFolder, writeHome } from '../demo/store.ts'
import { realSurroundings, type DemoFolders, type Settings } from '../settings.ts'
import { daemonAnswers } from './client/client.ts'
import type { Companion } from './serve-forever.ts'

const ASK_EVERY_MS = 100
const AGENT_ENDS_WITHIN_MS = 1000

/** The Cursor of a demo, the agent that writes to it, and the data folder. */
export class DemoStage implements Companion {
  readonly folders: DemoFolders
  readonly #print: (text: string) => Promise<void>
  /** The folder is made in `setUp`, when signals to stop are already handled. */
  readonly #root = join(tmpdir(), `cursordex-demo-${randomBytes(6).toString('hex')}`)
  readonly #cursorFolder = join(this.#root, 'sample')
  readonly #link: string
  #linked: string | null = null
  #agent: ChildProcess | null = null

  /** @param link where commands with `--demo` look for the data folder */
  constructor(print: (text: string) => Promise<void>, link: string) {
    this.#print = print
    this.#link = link
    this.folders = { userDir: userFolder(this.#cursorFolder), dataDir: join(this.#root, 'data') }
  }

  setUp(): void {
    // The files are removed however this process ends.
    process.once('exit', this.#removeFiles)
    mkdirSync(this.#root, { mode: 0o700 })
    const home = readHome(this.#cursorFolder, Date.now())
    writeHome(this.#cursorFolder, home)
    makeRepository(join(this.#cursorFolder, 'tide-tables'), home.commits, realSurroundings().env)
  }

  /** The greeting comes when all is read: then its commands find something, and the agent may delete something. */
  async started({ dataDir }: Settings, isStopping: () => boolean): Promise<void> {
    const agent = fileURLToPath(new URL('../demo/agent.js', import.meta.url))
    this.#agent = fork(agent, [this.#cursorFolder], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
    this.#makeLink(dataDir)
    while (!isStopping()) {
      const answers = await daemonAnswers(dataDir)
      const status = await answers?.get('/api/status')
      if (status?.state === 'ready') {
        if (this.#agent.connected) this.#agent.send('lose')
        return this.#print(this.#greeting(status.counts, dataDir))
      }
      await sleep(ASK_EVERY_MS)
    }
  }

  async strike(): Promise<void> {
    const agent = this.#agent
    if (agent !== null && agent.exitCode === null && agent.signalCode === null) {
      const ended = once(agent, 'exit')
      if (agent.connected) agent.disconnect()
      await Promise.race([ended, sleep(AGENT_ENDS_WITHIN_MS, undefined, { ref: false })])
    }
    process.removeListener('exit', this.#removeFiles)
    this.#removeFiles()
  }

  /** The demo that started last has the link. Without permission to make one, the demo runs without it. */
  #makeLink(dataDir: string): void {
    try {
      mkdirSync(dirname(this.#link), { recursive: true, mode: 0o700 })
      rmSync(this.#link, { force: true })
      // On Windows everyone may make a junction, but not a link.
      symlinkSync(dataDir, this.#link, 'junction')
      this.#linked = dataDir
    } catch {
      this.#linked = null
    }
  }

  /** The text that is printed when the sample is indexed. Each command in it finds something. */
  #greeting({ messages, chats, projects }: Status['counts'], dataDir: string): string {
    const flag = this.#linked === null ? `--data-dir ${quoted(dataDir)}` : '--demo'
    // A data folder that the user chose is not removed.
    const isKept = dataDir !== this.folders.dataDir
    return `
A sample Cursor (${messages} messages, ${chats} chats, ${projects} projects) is running, with an agent at work. Try this in another terminal:

${demoCommands.map((words) => `  cursordex ${words} ${flag}`).join('\n')}

Ctrl-C ends the demo and removes ${isKept ? `the sample. The mirror stays in ${quoted(dataDir)}.` : 'all of its files.'}
`
  }

  readonly #removeFiles = (): void => {
    this.#agent?.kill('SIGKILL')
    const target = this.#linked === null ? null : lstatSync(this.#link, { throwIfNoEntry: false })
    if (target?.isSymbolicLink() === true && readlinkSync(this.#link) === this.#linked) rmSync(this.#link)
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 40 })
  }
}

/** An identifier in all its spellings, a word inside unspaced text, the chat in which the agent works, and what it deleted. */
const demoCommands = ['search getUserName', 'search 数据库', 'chats --sort newest --limit 5', 'losses']

/** Quotes a path for a shell. */
function quoted(path: string): string {
  if (process.platform === 'win32') return /\s/.test(path) ? `"${path}"` : path
  return /[^\w@%+=:,./-]/.test(path) ? `'${path.replaceAll("'", String.raw`'\''`)}'` : path
}
