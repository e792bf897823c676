import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { listRunNames, nameRun } from '../../../src/api/archives/manifest-files.ts'
import type { JobOrder, JobReply } from '../../../src/engine/executor/executor.ts'
import { Chance } from '../../fuzz/chance.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { restoreHere, wordsIn } from '../../helpers/restored-mirror.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'
import { Cursordex, cursordexBin, getJson } from '../../helpers/spawn-cursordex.ts'
import { LeftMirror, brokenPages, brokenTerms } from './check-mirror.ts'
import type { ArchiveRestored } from '../../../src/api/http/schemas/archives.ts'

const CHATS = 400
const MESSAGES = 3
const archiver = fileURLToPath(new URL('../../../dist/engine/job-child.js', import.meta.url))

/**
 * An archive folder in which runs are killed, and a mirror into which killed daemons restore it. Each round continues with
 * what the previous one left.
 */
export class KilledArchives {
  readonly folder = new ArchiveFolder()
  readonly #mirror = seedMirror()
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
  readonly #chance: Chance
  readonly #bin: string
  readonly #words: readonly string[]
  #round = 0
  /** Killed runs that were complete, those that were not, and files that those left. */
  readonly runs = { made: 0, unmade: 0, leftovers: 0 }
  /** Restores that were killed before, during and after their writes. */
  readonly restores = { before: 0, within: 0, after: 0 }

  constructor(seed: number, bin = cursordexBin) {
    this.#chance = new Chance(seed)
    this.#bin = bin
    const mirror = this.#mirror
    mirror.writer.transaction(() => {
      for (let at = 0; at < CHATS; at += 1) {
        const chat = mirror.addChat({ id: `chat-${at}` })
        for (let message = 0; message < MESSAGES; message += 1) {
          const parts = [{ kind: 'text', text: `words ${at} ${message} `.repeat(200) } as const]
          mirror.addMessage(chat, { id: `m-${at}-${message}`, parts, columns: { sent_at: 1_760_000_000_000 + at } })
        }
      }
    })()
    this.#words = wordsIn(mirror.reader)
  }

  async begin(): Promise<void> {
    await this.folder.run(this.#mirror.reader)
  }

  /** @returns the faults of the archive after the kill, a line each */
  async killRun(): Promise<string[]> {
    this.#round += 1
    this.#mirror.writer.exec(`update chats set title = 'Round ${this.#round} ' || num, revision = revision + ${CHATS}`)
    const before = listRunNames(this.folder.dir)
    const name = this.nextName()
    await killAfter(this.startRun(name), this.#chance.below(6), this.#chance.below(40))
    const verdict = this.folder.verify()
    this.runs.leftovers += verdict.leftovers.length
    const isMade = verdict.soundRuns.includes(name)
    if (isMade) this.runs.made += 1
    else this.runs.unmade += 1
    const names = isMade ? before : listRunNames(this.folder.dir)
    return [
      ...(verdict.ok ? [] : [`it does not verify: ${JSON.stringify(verdict)}`]),
      ...(names.join() === before.join() ? [] : [`of ${before.join()} there are ${names.join()}`]),
    ]
  }

  /** @returns the faults of the mirror after the kill, and after the repeated restore */
  async killRestore(): Promise<string[]> {
    const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--port', '0', '--data-dir', this.#dataDir]
    const daemon = new Cursordex(['serve', ...nowhere], { bin: this.#bin })
    const url = await daemon.listening(20_000)
    const body = JSON.stringify({ from: this.folder.dir })
    const headers = { 'content-type': 'application/json' }
    const answered = new AbortController()
    const end = (): void => answered.abort()
    // It is usually killed before it answers.
    fetch(`${url}/api/archives/newest/restore`, { method: 'POST', headers, body }).then(end, end)
    const enough = this.#chance.below(CHATS)
    while (!answered.signal.aborted && (await doneAt(url)) < enough) await sleep(5)
    await sleep(this.#chance.below(50))
    await daemon.stop('SIGKILL')
    return this.#checkLeft()
  }

  async #checkLeft(): Promise<string[]> {
    const path = join(this.#dataDir, 'mirror.db')
    const left = new LeftMirror(path)
    try {
      const held = wordsIn(left.mirror)
      const isWhole = held.length === this.#words.length
      this.restores[held.length === 0 ? 'before' : isWhole ? 'after' : 'within'] += 1
      const broken = [...brokenPages(left.mirror), ...brokenTerms(left.mirror)]
      const strange = held.filter((word) => !this.#words.includes(word)).map((word) => `strange: ${word.slice(0, 80)}`)
      const again = await this.#restoreAgain(left.folder)
      const words = wordsIn(left.mirror)
      const isEqual = words.join('\n') === this.#words.join('\n')
      const unequal = isEqual ? [] : [`${words.length} of ${this.#words.length} messages after it was done again`]
      const more = (await restoreHere(left.mirror, this.folder.dir)).added
      // The next restore starts from the beginning. Until then each continues after the previous kill.
      if (isWhole) for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true })
      return [
        ...broken,
        ...strange,
        ...unequal,
        ...(again.damaged.length > 0 ? ['chats of a whole archive are damaged'] : []),
        ...(more > 0 ? [`a third restore added ${more}`] : []),
        ...brokenTerms(left.mirror),
      ]
    } finally {
      left.remove()
    }
  }

  /** Restores completely, with the program that was killed. */
  async #restoreAgain(dataDir: string): Promise<ArchiveRestored> {
    const nowhere = ['--cursor-user-dir', '', '--cursor-home', '', '--data-dir', dataDir]
    const argv = ['archive', 'restore', '--from', this.folder.dir, '--json', ...nowhere]
    const { stdout, stderr } = await new Cursordex(argv, { bin: this.#bin }).ended
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as ArchiveRestored
  }

  nextName(): string {
    return nameRun(this.folder.dir, Date.UTC(2027, 0, 1) + this.#round * 60_000, 'job')
  }

  /** Begins a run as the daemon does. */
  startRun(name: string): ChildProcess {
    const child = fork(archiver, ['archive', this.#mirror.path, '19', 'once'], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    })
    const prune = { job: 'job', keep: { daily: 1, weekly: 0, monthly: 0 }, timeZone: 'UTC' }
    const { dir } = this.folder
    const rest = { scope: null, timeZone: 'UTC', version: '0', prune }
    const order: JobOrder = { name: 'archive', input: { dir, name, ...rest } }
    child.send(order)
    return child
  }

  remove(): void {
    this.folder.remove()
    this.#mirror.dispose()
    if (existsSync(this.#dataDir)) rmSync(this.#dataDir, { recursive: true, force: true })
  }
}

/** How many chats were restored so far. On a busy machine the time would not show that. */
async function doneAt(url: string): Promise<number> {
  const { archives } = await getJson<{ archives: { atWork: { done: number } | null } }>(url, '/api/status')
  return archives.atWork?.done ?? 0
}

async function killAfter(child: ChildProcess, signs: number, extraMs: number): Promise<void> {
  let seen = 0
  const ended = once(child, 'exit')
  await new Promise<void>((resolve) => {
    child.on('message', (news: JobReply) => {
      seen += 1
      if (seen > signs || news.kind !== 'progress') resolve()
    })
    child.on('exit', () => resolve())
  })
  await sleep(extraMs)
  child.kill('SIGKILL')
  await ended
}
