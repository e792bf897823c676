import type { CursorHome } from '../../../helpers/cursor.ts'
import type { Workplace } from '../../../helpers/spawn-cursordex.ts'
import { untilReady, type Ended } from '../../../helpers/spawn-cursordex.ts'
import { bytesOf, foundIn, tokenOf } from './tokens.ts'

/** The secrets that were found, by place. */
export type Found = Readonly<Record<string, readonly string[]>>

interface List {
  readonly items: readonly { readonly id: string }[]
}

const formats = ['markdown', 'json', 'jsonl', 'html']

/** Runs the program with all its output and its most detailed log, and searches everything for words. */
export async function lookEverywhere(place: Workplace, places: readonly string[]): Promise<Found> {
  const { daemon, url } = await place.serve(['--log-level', 'trace'])
  await untilReady(url)
  await fetch(`${url}/api/sync`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"full":true}',
  })
  const answers = await askAll(url, places)
  const running = bytesOf(place.dataDir)
  const shape = ['doctor', '--shape', place.cursor.globalPath]
  const spoken = await commandAll(place, [...telling, ...others, shape])
  const { stdout, stderr } = await daemon.stop()
  const alone = await commandAll(place, telling)
  return {
    'HTTP answers': foundIn(answers, places),
    'the data folder, in use': foundIn(running, places),
    'the data folder, at rest': foundIn(bytesOf(place.dataDir), places),
    'the log': foundIn(stdout + stderr, places),
    'commands beside a daemon': foundIn(spoken, places),
    'commands without one': foundIn(alone, places),
  }
}

async function askAll(url: string, places: readonly string[]): Promise<string> {
  const answers: string[] = []
  const ask = async (path: string): Promise<string> => {
    const response = await fetch(`${url}${path}`)
    const text = await response.text()
    answers.push(JSON.stringify([...response.headers]), text)
    return text
  }
  for (const path of ['/', '/api/health', '/api/status', '/api/projects', '/api/nothing', '/api/search?q='])
    await ask(path)
  const { items } = JSON.parse(await ask('/api/chats?limit=200&includeEmpty=true&subagents=true')) as List
  for (const { id } of items) {
    const path = `/api/chats/${encodeURIComponent(id)}`
    await ask(path)
    await ask(`${path}/messages?limit=200&includeOrphans=true`)
    for (const as of formats) await ask(`${path}/export?as=${as}&includeOrphans=true`)
    await ask(`/api/search?chat=${encodeURIComponent(id)}&limit=200`)
  }
  // Only the beginning of a word is sent, because an answer repeats the query.
  for (const place of places) await ask(`/api/search?q=${tokenOf(place).slice(0, 8)}*`)
  return answers.join('\n')
}

const telling: readonly (readonly string[])[] = [
  ['doctor', '--json'],
  ['doctor', '--shape'],
  ['chats', '--include-empty', '--subagents', '--json'],
  ['export', 'talk', '--as', 'json', '--orphans'],
]

const others: readonly (readonly string[])[] = [
  ['status', '--json'],
  ['chats', '--include-empty'],
  ['projects', '--json'],
  ['doctor'],
  ['search', 'turns', '--json'],
  ['show', 'talk', '--json'],
  ['show', 'model'],
  ['show', 'nothing'],
  ['export', 'talk', '--as', 'html'],
  ['sync', '--full', '--json'],
]

async function commandAll(place: Workplace, commands: readonly (readonly string[])[]): Promise<string> {
  const ended: Ended[] = []
  for (let at = 0; at < commands.length; at += 2) {
    const some = commands.slice(at, at + 2).map((argv) => place.run(argv, { flags: ['--log-level', 'trace'] }))
    ended.push(...(await Promise.all(some)))
  }
  return ended.map(({ stdout, stderr }) => `${stdout}\n${stderr}`).join('\n')
}

/** Everything in the home, to check that there was something to find. */
export const hiddenIn = (home: CursorHome, places: readonly string[]): string[] => foundIn(bytesOf(home.root), places)
