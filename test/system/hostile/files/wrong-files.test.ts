import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asOther, OTHER_USER } from '../../../helpers/as-other-user.ts'
import { Chance, CliStore, Store } from '../../../helpers/cursor.ts'
import { fillStore } from '../../../helpers/fill-store.ts'
import { getStatus, STOP_MS_MAX, Workplace } from '../../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../../helpers/wait-until.ts'
import {
  archivedChat,
  archivedMessage,
  linesOf,
  plantChat,
  plantRun,
  RUN,
  type PlantedChat,
} from '../../../helpers/made-archive.ts'
import { objectPath, runPath } from '../../../../src/archive/archived-chat.ts'
import { putAt, TEXT, wrongFiles, wrongNames, type Make, type WrongFiles } from './wrong-files.ts'

const PEAK_MB_MAX = 500

const shared = mkdtempSync(join(tmpdir(), 'wrong-'))
chmodSync(shared, 0o755)
let wrong: WrongFiles
beforeAll(async () => {
  wrong = await wrongFiles(shared)
})
afterAll(() => {
  wrong.close()
  rmSync(shared, { recursive: true })
})

/** The most memory that the process ever used, in MB; 0 if it has ended. */
function peakMb(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Gives folders and all below them to the other user. No link is followed, and names may be any bytes. */
function give(...folders: readonly string[]): void {
  if (asOther.uid !== undefined) execFileSync('chown', ['-hR', String(OTHER_USER), ...folders])
}

/** One place of Cursor's where a wrong file can be: what is made for it in these folders, and the file's path. */
interface CursorPlace {
  readonly what: string
  readonly at: (root: string, n: number) => string
}

const HOME = '.cursor'
const userDirOf = (root: string, n: number): string => join(root, 'users', `u${n}`)
const homeOf = (root: string, n: number): string => join(root, 'homes', `h${n}`)

function emptyStore(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'state.vscdb')
  const store = new Store(path, 'delete')
  store.item('composer.composerData', { allComposers: [] })
  store.close()
  return path
}

function cliStore(folder: string): string {
  const store = new CliStore(folder)
  store.facts({ agentId: 'x', latestRootBlobId: '', name: 'New Agent' })
  store.close()
  return folder
}

/** `workspaceStorage` of the first Cursor: beside the good chats. */
const workspaces = (root: string): string => join(root, 'Cursor', 'User', 'workspaceStorage')
const transcripts = (root: string, project = 'shop'): string =>
  join(root, HOME, 'projects', project, 'agent-transcripts')

const cursorPlaces: readonly CursorPlace[] = [
  {
    what: 'workspace.json',
    at(root, n) {
      emptyStore(join(workspaces(root), `json-${n}`))
      return join(workspaces(root), `json-${n}`, 'workspace.json')
    },
  },
  { what: 'workspace', at: (root, n) => join(workspaces(root), `w-${n}`) },
  { what: 'workspace store', at: (root, n) => join(workspaces(root), `store-${n}`, 'state.vscdb') },
  {
    what: 'journal of a workspace store',
    at: (root, n) => `${emptyStore(join(workspaces(root), `journal-${n}`))}-journal`,
  },
  { what: 'WAL of a workspace store', at: (root, n) => `${emptyStore(join(workspaces(root), `wal-${n}`))}-wal` },
  { what: 'global store', at: (root, n) => join(userDirOf(root, n), 'globalStorage', 'state.vscdb') },
  { what: 'tracking database', at: (root, n) => join(homeOf(root, n), 'ai-tracking', 'ai-code-tracking.db') },
  { what: 'CLI store', at: (root, n) => join(root, HOME, 'chats', `s${n}`, `cli-${n}`, 'store.db') },
  { what: 'CLI facts', at: (root, n) => join(cliStore(join(root, HOME, 'chats', `m${n}`, `m-${n}`)), 'meta.json') },
  { what: 'ACP store', at: (root, n) => join(root, HOME, 'acp-sessions', `acp-${n}`, 'store.db') },
  { what: 'project', at: (root, n) => join(root, HOME, 'projects', `p${n}`) },
  { what: 'trust file', at: (root, n) => join(root, HOME, 'projects', `t${n}`, '.workspace-trusted') },
  ...['jsonl', 'json', 'txt'].map((ending) => ({
    what: `transcript .${ending}`,
    at: (root: string, n: number) => join(transcripts(root, `f${n}`), `t${n}-${ending}.${ending}`),
  })),
]

test('wrong files in every place of Cursor’s: all else is read, a stop takes no longer, and little memory is used', async () => {
  const place = new Workplace()
  const { root } = place.cursor
  try {
    fillStore(place.cursor.global(), { chats: 3, messagesPerChat: 2 })
    place.cursor.workspace('good', { folder: 'file:///home/ada/shop' }, ['chat-0'])
    place.cursor.close()
    const kinds = Object.values(wrong.kinds)
    const paths = cursorPlaces.flatMap(({ at }) => kinds.map((make, n) => putAt(at(root, n), make)))
    for (const name of wrongNames) {
      const bytes = Buffer.from(name)
      mkdirSync(Buffer.concat([Buffer.from(`${workspaces(root)}/`), bytes]))
      mkdirSync(Buffer.concat([Buffer.from(`${transcripts(root)}/`), bytes]), { recursive: true })
      writeFileSync(Buffer.concat([Buffer.from(`${transcripts(root)}/`), bytes, Buffer.from('.jsonl')]), '{}')
    }
    writeFileSync(
      join(transcripts(root), 'good.jsonl'),
      `{"role":"user","message":{"content":[{"type":"text","text":"fig"}]}}\n`,
    )
    give(root, place.root)
    wrong.shut()
    const flags = kinds.flatMap((_, n) => ['--cursor-user-dir', userDirOf(root, n), '--cursor-home', homeOf(root, n)])
    flags.push('--cursor-home', join(root, HOME))
    const { daemon, url } = await place.serve(flags, { ...asOther, env: { HOME: place.root } })
    const status = await waitUntil(
      'all to be read',
      async () => {
        const now = await getStatus(url)
        return now.progress === null && now.state !== 'starting' && (now.counts['messages'] ?? 0) >= 7 ? now : null
      },
      { withinMs: 60_000 },
    )
    for (const q of ['aqaz', 'bqbz', 'fig']) {
      const found = await fetch(`${url}/api/search?q=${q}`)
      expect([q, found.status, ((await found.json()) as { items: unknown[] }).items.length]).toEqual([q, 200, 1])
    }
    expect(status.reasons.length).toBeLessThan(paths.length)
    expect(new Set(status.reasons).size).toBe(status.reasons.length)
    expect(status.reasons.join('\n')).not.toContain(TEXT)
    expect(peakMb(daemon.pid)).toBeLessThan(PEAK_MB_MAX)
    const { tookMs, exitCode, stderr } = await daemon.stop()
    expect([tookMs < STOP_MS_MAX, exitCode]).toEqual([true, 0])
    expect(stderr).not.toContain(TEXT)
    expect(stderr).not.toMatch(/^\s+at /m)
  } finally {
    await place.remove()
  }
})

const CONFIG = 'config.json'

/** An archive with a run of one chat. */
function plantedRun(dir: string): PlantedChat {
  const chat = plantChat(dir, 'old', linesOf(archivedChat('old'), [archivedMessage('o1')]))
  plantRun(dir, [chat])
  return chat
}

interface OwnPlace {
  readonly path: (place: Workplace) => string
  /** The commands that read it. */
  readonly argv: readonly (readonly string[])[]
}

const ofData = (name: string, ...argv: readonly (readonly string[])[]): OwnPlace => ({
  path: ({ dataDir }) => join(dataDir, name),
  argv,
})

/** Places that are ours, or that a person names. `{}` stands for the path. */
const ownPlaces: Readonly<Record<string, OwnPlace>> = {
  'the mirror': ofData('mirror.db', ['chats'], ['doctor'], ['serve']),
  'the mirror’s journal': ofData('mirror.db-journal', ['chats']),
  'the mirror’s WAL': ofData('mirror.db-wal', ['serve']),
  'the mark of the mirror': ofData('mirror.db-clean', ['serve'], ['chats']),
  'the index': ofData('index.db', ['search', 'aqaz'], ['serve']),
  'the bars': ofData('user.db', ['chats'], ['serve']),
  'the token': ofData('token', ['serve', '--auth']),
  'the lock': ofData('daemon.lock', ['chats'], ['serve']),
  'daemon.json': ofData('daemon.json', ['chats'], ['status'], ['serve']),
  'archives.json': ofData('archives.json', ['archive', 'list'], ['serve']),
  'bars.json': ofData('archives/bars.json', ['chats']),
  'the lock of the archives': ofData('archives/.lock', ['archive', 'run']),
  'a run': ofData(`archives/${runPath(RUN)}`, ['archive', 'list'], ['archive', 'verify', RUN], ['archive', 'restore']),
  'an object': {
    path({ dataDir }) {
      const { object } = plantedRun(join(dataDir, 'archives'))
      rmSync(join(dataDir, 'archives', objectPath(object)))
      return join(dataDir, 'archives', objectPath(object))
    },
    argv: [
      ['archive', 'verify', RUN],
      ['archive', 'restore'],
      ['archive', 'restore', '--from', '{}'],
    ],
  },
  'the settings': { path: ({ root }) => join(root, CONFIG), argv: [['chats', '--config', '{}']] },
  'a usage file': { path: ({ root }) => join(root, 'usage.csv'), argv: [['tokens', 'import', '{}']] },
  'mcp.json': {
    path: ({ root }) => join(root, 'mcp.json'),
    argv: [
      ['mcp', 'install', 'cursor', '--file', '{}'],
      ['mcp', 'install', 'cursor', '--file', '{}', '--yes'],
    ],
  },
}

/** WRONG_FILES=all takes every combination, and any other word another choice of them. */
const MEANWHILE = 4
const RUNS = 40
const ENDS_WITHIN_MS = 60_000

/** Runs a command on a wrong file. @returns what is wrong with how it ended */
async function judgeRun(own: OwnPlace, argv: readonly string[], make: Make): Promise<string | null> {
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
    place.cursor.close()
    mkdirSync(place.dataDir, { mode: 0o700 })
    const path = putAt(own.path(place), make)
    const program = place.start(
      argv.map((word) => (word === '{}' ? path : word)),
      { env: { HOME: place.root } },
    )
    let [isListening, peak] = [false, 0]
    await waitUntil(
      'an end',
      () => {
        peak = Math.max(peak, program.hasEnded ? 0 : peakMb(program.pid))
        isListening = program.stdout.startsWith('cursordex listening')
        return program.hasEnded || isListening
      },
      { withinMs: ENDS_WITHIN_MS, everyMs: 20 },
    )
    const [, url = ''] = /listening on (\S+)/.exec(program.stdout) ?? []
    if (isListening) await fetch(`${url}/api/status`)
    const { exitCode, stderr, tookMs } = isListening ? await program.stop() : { ...(await program.ended), tookMs: 0 }
    const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
    if (tookMs > STOP_MS_MAX) return `a stop took ${tookMs} ms`
    if (peak > PEAK_MB_MAX) return `it used ${peak} MB`
    if (stderr.includes(TEXT)) return `it repeats a text: ${stderr.slice(0, 300)}`
    if (exitCode === null || exitCode > 2 || /bug in cursordex|^\s+at /m.test(stderr) || lines.length > 3)
      return `${exitCode}: ${stderr.slice(0, 600)}`
    // What is said of a failure names the file, its folder, or the archive.
    const isNamed = [place.root, RUN, 'The mirror', 'The file has no column'].some((name) =>
      `${program.stdout}${stderr}`.includes(name),
    )
    return exitCode > 0 && !isNamed ? `names no path: ${stderr.slice(0, 300)}` : null
  } catch (error) {
    return String(error)
  } finally {
    await place.remove()
  }
}

test('a wrong file in place of one of ours, or named by a person: one clear sentence, or the command works', async () => {
  const kinds = Object.entries(wrong.kinds).filter(([kind]) => !kind.includes('permission'))
  const all = Object.entries(ownPlaces).flatMap(([where, own]) =>
    own.argv.flatMap((argv) =>
      kinds.map(([kind, make]) => ({ own, argv, make, name: `${kind} as ${where}: ${argv.join(' ')}` })),
    ),
  )
  const isWhole = process.env['WRONG_FILES'] === 'all'
  const seed = process.env['WRONG_FILES'] ?? 'wrong files'
  const chosen = isWhole ? all : new Chance(seed).shuffled(all).slice(0, RUNS)
  const found: string[] = []
  const work = async (): Promise<void> => {
    for (let next = chosen.pop(); next !== undefined; next = chosen.pop()) {
      const trouble = await judgeRun(next.own, next.argv, next.make)
      if (trouble !== null) found.push(`${next.name}: ${trouble}`)
    }
  }
  await Promise.all(Array.from({ length: MEANWHILE }, work))
  expect(found).toEqual([])
})
