import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { ArchiveRestored, ArchiveRun, ArchiveVerdict } from '../../api/answers/archives.ts'
import { UserError } from '../../model/user-error.ts'
import { printable } from '../../text/printable.ts'
import type { Answers } from '../client/client.ts'
import { addGroup, addRepeatable, hasDateField, inOwnZone } from '../input/options.ts'
import type { Session } from '../session.ts'
import { bytesText, countText } from '../terminal/formats.ts'
import * as lists from './lists.ts'

export function addCommand(program: Command, session: Session): void {
  const about = 'archive chats, verify the archives, and restore chats from them'
  const command = addGroup(program, 'archive', about, 'cursordex archive run', 'cursordex archive verify')
  addRun(command, session)
  lists.addCommand(command, session, 'list')
  addVerify(command, session)
  addRestore(command, session)
}

function addRun(parent: Command, session: Session): void {
  const command = parent
    .command('run')
    .argument('[query...]', 'only chats in which this search finds something')
    .description('archive all chats now; unchanged chats are not stored again')
  const examples = ['cursordex archive run', 'cursordex archive run project:shop after:2026-01-01'] as const
  session.asks(command, examples, async (answers, words: readonly string[]) => {
    const scope = words.join(' ')
    const scoped = inOwnZone<{ scope: string; tz?: string }>({ scope }, session.screen, hasDateField(scope))
    const body = words.length === 0 ? {} : scoped
    const { name } = await answers.post('/api/archives', { body })
    const made = await whenMade(answers, name)
    const { state, error, leftOut } = made
    if (state === 'failed') {
      const text = `The archive ${name} could not be made. ${error ?? ''}`
      throw new UserError('archive-failed', text, 'Earlier archives are not affected.')
    }
    await session.printAnswer(command, made, madeText)
    if (leftOut.length === 0) return
    // The archive is valid, but a script must notice that some chats are missing.
    const text = `${countText(leftOut.length, 'chat')} left out. All others are archived.`
    const hint = 'If such a chat was archived before, the archive contains that older state.'
    throw new UserError('archive-incomplete', text, hint)
  })
}

const EVERY_MS = 200

/** @returns the run when it is made, or failed */
async function whenMade(answers: Answers, id: string): Promise<ArchiveRun> {
  for (;;) {
    const found = await answers.get('/api/archives/:name', { id })
    if (found.state !== 'running') return found
    await sleep(EVERY_MS)
  }
}

const madeText = ({ name, chats, messages, bytes, leftOut }: ArchiveRun): string[] => [
  `${name}: ${countText(chats ?? 0, 'chat')}, ${countText(messages ?? 0, 'message')}, ${bytesText(bytes ?? 0)}, verified`,
  ...leftOut.map(({ id, why }) => `current state left out: ${id} (${why})`),
]

function addVerify(parent: Command, session: Session): void {
  const command = parent
    .command('verify')
    .argument('[name]', 'name of an archive; without it, the newest. All of the folder is read either way')
    .description('read every byte of the archive folder, and compare it with its checksums')
  const examples = ['cursordex archive verify', 'cursordex archive verify --json'] as const
  session.asks(command, examples, async (answers, name: string = 'newest') => {
    const verdict = await answers.post('/api/archives/:name/verify', { id: name, body: {} })
    await session.printAnswer(command, verdict, verdictText)
    if (verdict.ok) return
    const { damaged, damagedRuns, unexpected } = verdict
    const counts = `${countText(damaged.length, 'chat')} and ${countText(damagedRuns.length, 'archive')} damaged`
    const text = `${counts}, ${countText(unexpected.length, 'unexpected file')}.`
    const hint = 'Make a new archive while the chats still exist: cursordex archive run'
    throw new UserError('archive-damaged', text, hint)
  })
}

const verdictText = ({ ok, checked, damaged, damagedRuns, unexpected }: ArchiveVerdict): string[] => [
  `${countText(checked, 'file')} read, ${ok ? 'all undamaged' : 'not all undamaged'}`,
  ...damagedRuns.map(({ name, why }) => `damaged archive: ${name}${why === null ? '' : ` (${why})`}`),
  ...damaged.map((id) => `damaged chat: ${id}`),
  ...unexpected.map((path) => `unexpected file: ${path}`),
]

function addRestore(parent: Command, session: Session): void {
  const command = parent
    .command('restore')
    .argument('[name]', 'name of an archive; without it, the newest state of each chat in the folder')
    .description('bring back chats and messages that only the archives contain')
    .option('--from <folder>', 'an archive folder from another machine; it is only read')
  addRepeatable(command, '--map <there=here>', 'the path of a folder on the other machine, and its path here')
  const another = 'cursordex archive restore --from /media/stick/archives --map /Users/a=/home/b'
  type Given = { readonly from?: string; readonly map?: readonly string[] }
  const examples = ['cursordex archive restore', another] as const
  session.asks(command, examples, async (answers, name: string = 'newest', { from, map = [] }: Given) => {
    const body = { ...(from !== undefined && { from: resolve(from) }), map: Object.fromEntries(map.map(foldersOf)) }
    const restored = await answers.post('/api/archives/:name/restore', { id: name, body })
    await session.printAnswer(command, restored, restoredText)
    const { ok, damaged, manifest } = restored
    if (ok) return
    const what = manifest === null ? '' : `, and a manifest is damaged: ${printable(manifest)}`
    const hint = 'Everything undamaged is restored. Other archives, or a copy of the folder, may contain the rest.'
    throw new UserError('archive-damaged', `${countText(damaged.length, 'chat')} damaged${what}.`, hint)
  })
}

/** Reads `/Users/a=/home/b`. @throws UserError `bad-map`, exit code 2 */
function foldersOf(given: string): readonly [there: string, here: string] {
  const [there, here, ...more] = given.split('=')
  if (there && here && more.length === 0) return [there, here]
  const hint = 'Write it like --map /Users/a=/home/b, with two absolute paths or URIs.'
  throw new UserError('bad-map', `--map ${given} does not name two folders.`, hint, { exitCode: 2 })
}

function restoredText(restored: ArchiveRestored): string[] {
  const { name, runs, chats, messages, added, addedChats, damaged } = restored
  const which = runs > 1 ? `${name} and ${countText(runs - 1, 'earlier archive')}` : name
  const contents = `${countText(chats, 'chat')}, ${countText(messages, 'message')}`
  return [
    `${which}: ${contents}; restored ${countText(addedChats, 'chat')} and ${countText(added, 'message')}`,
    ...damaged.map((id) => `damaged chat: ${id}`),
  ]
}
