import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { chatsDone } from '../with-progress.ts'
import { bytesText, countText } from '../../terminal/formats.ts'
import {
  addExamples,
  addJson,
  addPage,
  addRepeatable,
  queryOf,
  type JsonOption,
  hasDateField,
  inOwnZone,
  hasDates,
} from '../../input/options.ts'
import { helpOrRefuse } from '../../input/usage.ts'
import { listOf, noteUnknown, printList } from '../list.ts'
import { pathPart } from '../../input/refuse-empty.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import { decodeAnswer, printAnswer, type Session } from '../../session.ts'
import { addRestore } from './archive-restore.ts'
import {
  archiveAnswer,
  archivesAnswer,
  verdictAnswer,
  type ArchiveRun,
  type ArchiveVerdict,
} from '../../../api/http/schemas/archives.ts'

export function addCommand(program: Command, session: Session): void {
  const command = program.command('archive')
  addExamples(command, 'cursordex archive run', 'cursordex archive verify')
  command.allowExcessArguments().action(() => helpOrRefuse(command))
  addRun(command, session)
  addList(command, session)
  addVerify(command, session)
  addRestore(command, session)
}

interface RunOptions extends JsonOption {
  readonly project?: readonly string[]
  readonly from?: string
  readonly to?: string
}

function addRun(parent: Command, session: Session): void {
  const command = parent
    .command('run')
    .argument('[query...]', 'only chats in which this search finds something')
    .description('archive all chats now; unchanged chats are not stored again')
  addRepeatable(command, '--project <project>', 'only this project: its name, path or id')
  command.option('--from <date>', 'only chats with messages from this date or time on')
  command.option('--to <date>', 'only chats with messages before this date or time')
  addJson(command)
  addExamples(command, 'cursordex archive run', 'cursordex archive run --project shop --from 2026-01-01')
  command.action((words: readonly string[]) => run(command, session, words))
}

async function run(command: Command, session: Session, words: readonly string[]): Promise<void> {
  const { json, ...filters } = command.opts<RunOptions>()
  const scope = { ...filters, ...(words.length === 0 ? {} : { q: words.join(' ') }) }
  await session.ask(command, async (answers) => {
    const isDated = hasDates(filters) || hasDateField(words.join(' '))
    const { tz } = inOwnZone<{ tz?: string }>({}, session.screen, isDated)
    const body = { ...(Object.keys(scope).length > 0 && { scope }), ...(tz !== undefined && { tz }) }
    const { name } = decodeAnswer(archiveAnswer, await answers.post('/api/archives', body))
    const made = await watchArchive(answers, name, session)
    if (made.state === 'failed') {
      const text = `The archive ${name} could not be made. ${made.error ?? ''}`
      throw new UserError('archive-failed', text, 'Earlier archives are not affected.')
    }
    await session.print(json === true ? `${printableJson(made)}\n` : madeText(made))
    // An empty archive is a valid archive. Without a note, a misspelt project would not be noticed.
    await noteUnknown(filters, answers, session)
    if (made.leftOut.length === 0) return
    // The archive is valid, but a script must notice that some chats are missing.
    const text = `${countText(made.leftOut.length, 'chat')} left out. All others are archived.`
    const hint = 'If such a chat was archived before, the archive contains that older state.'
    throw new UserError('archive-incomplete', text, hint)
  })
}

/** Fields that this program does not know stay, for --json. */
const looseArchive = z.catchall(archiveAnswer, z.unknown())

const EVERY_MS = 200

/** Waits until an archive is made, and shows the progress on a terminal. @returns the finished or failed run */
async function watchArchive(answers: Answers, name: string, { progress }: Session): Promise<ArchiveRun> {
  for (;;) {
    const path = `/api/archives/${encodeURIComponent(name)}`
    const found = decodeAnswer(looseArchive, await answers.get(path, new URLSearchParams()))
    if (found.state !== 'running') {
      await progress.show('')
      return found
    }
    if (found.progress) await progress.show(chatsDone(found.progress))
    await sleep(EVERY_MS)
  }
}

function madeText({ name, chats, messages, bytes, leftOut }: ArchiveRun): string {
  const lines = [
    `${name}: ${countText(chats ?? 0, 'chat')}, ${countText(messages ?? 0, 'message')}, ${bytesText(bytes ?? 0)}, verified`,
    ...leftOut.map(({ id, why }) => `current state left out: ${id} (${why})`),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function addList(parent: Command, session: Session): void {
  const command = parent.command('list').description('list the archives, newest first')
  addJson(addPage(command))
  addExamples(command, 'cursordex archive list', 'cursordex archive list --limit 5 --json')
  command.action(() => session.ask(command, (answers) => printList(list, answers, command, session)))
}

const NONE = 'There is no archive yet.'
const MAKE_ONE = 'Make one with: cursordex archive run'

const list = listOf({
  path: '/api/archives',
  schema: archivesAnswer,
  nothing: `${NONE} ${MAKE_ONE}`,
  rowsOf: ({ items }) => items,
  columns: [
    { title: 'name', read: ({ name }) => name },
    { title: 'state', read: ({ state }) => state },
    { title: 'verified', as: 'time', read: ({ provenAt }) => provenAt },
    { title: 'chats', align: 'right', read: ({ chats }) => chats },
    { title: 'messages', align: 'right', read: ({ messages }) => messages },
  ],
})

function addVerify(parent: Command, session: Session): void {
  const command = parent
    .command('verify')
    .argument('[name]', 'name of an archive; without it, the newest. All of the folder is read either way')
    .description('read every byte of the archive folder, and compare it with its checksums')
  addJson(command)
  addExamples(command, 'cursordex archive verify', 'cursordex archive verify --json')
  command.action((name: string | undefined) => verify(command, session, name))
}

async function newestPart(answers: Answers): Promise<string> {
  const [first] = decodeAnswer(archivesAnswer, await answers.get('/api/archives', queryOf({ limit: 1 }))).items
  if (first === undefined) throw new UserError('archive-not-found', NONE, MAKE_ONE)
  return encodeURIComponent(first.name)
}

async function verify(command: Command, session: Session, given: string | undefined): Promise<void> {
  const part = given === undefined ? null : pathPart('name', given)
  await session.ask(command, async (answers) => {
    const answer = await answers.post(`/api/archives/${part ?? (await newestPart(answers))}/verify`, {})
    const verdict = await printAnswer(verdictAnswer, answer, verdictText, command, session)
    if (verdict.ok) return
    const { damaged, damagedRuns, unexpected } = verdict
    const counts = `${countText(damaged.length, 'chat')} and ${countText(damagedRuns.length, 'archive')} damaged`
    const text = `${counts}, ${countText(unexpected.length, 'unexpected file')}.`
    const hint = 'Make a new archive while the chats still exist: cursordex archive run'
    throw new UserError('archive-damaged', text, hint)
  })
}

function verdictText({ ok, checked, damaged, damagedRuns, unexpected }: ArchiveVerdict): string {
  const lines = [
    `${countText(checked, 'file')} read, ${ok ? 'all undamaged' : 'not all undamaged'}`,
    ...damagedRuns.map(({ name, why }) => `damaged archive: ${name}${why === null ? '' : ` (${why})`}`),
    ...damaged.map((id) => `damaged chat: ${id}`),
    ...unexpected.map((path) => `unexpected file: ${path}`),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}
