import { resolve } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { countText } from '../../terminal/formats.ts'
import { addExamples, addJson, addRepeatable, type JsonOption } from '../../input/options.ts'
import { archivedText, newestArchive, chatsDone } from './archive-answers.ts'
import { pathPart, refuseEmpty } from '../../input/refuse-empty.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import { decodeAnswer, type Session } from '../../session.ts'
import { withProgress } from '../with-progress.ts'
import { statusAnswer } from '../../../api/http/schemas/status.ts'
import { restoredAnswer, type ArchiveRestored } from '../../../api/http/schemas/archives.ts'

interface RestoreOptions extends JsonOption {
  readonly from?: string
  readonly map?: readonly string[]
}

export function addRestore(parent: Command, session: Session): void {
  const command = parent
    .command('restore')
    .argument('[name]', 'name of an archive; without it, the newest state of each chat in the folder')
    .description('bring back chats and messages that only the archives contain')
    .option('--from <folder>', 'an archive folder from another machine; it is only read')
  addRepeatable(command, '--map <there=here>', 'the path of a folder on the other machine, and its path here')
  addJson(command)
  addExamples(
    command,
    'cursordex archive restore',
    'cursordex archive restore --from /media/stick/archives --map /Users/a=/home/b',
  )
  command.action((name: string | undefined) => restore(command, session, name))
}

async function restore(command: Command, session: Session, given: string | undefined): Promise<void> {
  const { json, from, map = [] } = command.opts<RestoreOptions>()
  refuseEmpty({ '--from': from })
  const path = `/api/archives/${pathPart('name', given ?? 'newest')}/restore`
  const body = { ...(from === undefined ? {} : { from: resolve(from) }), map: mapOf(map) }
  await session.ask(command, async (answers) => {
    const request = answers.post(path, body).catch(async (error: unknown) => {
      throw given === undefined ? await explainNotFound(error, from, answers) : error
    })
    const answer = await withProgress(session, request, () => showProgress(answers, session))
    const restored = decodeAnswer(restoredAnswer, answer)
    await session.print(json === true ? `${printableJson(answer)}\n` : restoredText(restored))
    if (restored.ok) return
    const { damaged, manifest } = restored
    const what =
      manifest === null ? '' : `, and ${given === undefined ? 'a' : 'its'} manifest is damaged: ${printable(manifest)}`
    const hint =
      given === undefined
        ? 'Everything undamaged in the folder is restored. A copy of the folder may contain the rest.'
        : 'Other archives may contain what is missing: cursordex archive restore'
    throw new UserError('archive-damaged', `${countText(damaged.length, 'chat')} damaged${what}.`, hint)
  })
}

/** Without a name, "not found" means that the list of archives is empty. */
async function explainNotFound(error: unknown, from: string | undefined, answers: Answers): Promise<unknown> {
  if (!(error instanceof UserError) || error.code !== 'archive-not-found') return error
  if (from !== undefined) {
    return new UserError(error.code, error.message, 'cursordex looked in the folder of --from.', { cause: error })
  }
  await newestArchive(answers)
  return error
}

/**
 * Reads `/Users/a=/home/b`. A path may contain `=` too, so the text is split where both sides are absolute folders.
 * @throws UserError `bad-map`, exit code 2
 */
function mapOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((value) => {
    const places = [...value.matchAll(/=/g)].map(({ index }) => index)
    const splits = places.map((at) => [value.slice(0, at), value.slice(at + 1)] as const)
    const fitting = splits.filter(([there, here]) => isAbsolute(there) && isAbsolute(here))
    const [pair] = fitting
    if (pair !== undefined && fitting.length === 1) return pair
    const why = pair === undefined ? 'does not name two absolute folders' : 'can be split in several ways'
    throw new UserError('bad-map', `--map ${value} ${why}.`, MAP_HINT, { exitCode: 2 })
  })
  const map = Object.fromEntries(pairs)
  if (Object.keys(map).length === pairs.length) return map
  throw new UserError('bad-map', 'One folder is mapped twice.', MAP_HINT, { exitCode: 2 })
}

const MAP_HINT = 'Write it like --map /Users/a=/home/b, with two absolute paths or URIs.'
const isAbsolute = (folder: string): boolean => /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][\w+.-]*:\/\/)/.test(folder)

async function showProgress(answers: Answers, session: Session): Promise<void> {
  const { archives } = decodeAnswer(
    z.pick(statusAnswer, { archives: true }),
    await answers.get('/api/status', new URLSearchParams()),
  )
  const { atWork } = archives
  if (atWork?.act === 'restore' && atWork.total > 0) await session.progress.show(chatsDone(atWork))
}

function restoredText(restored: ArchiveRestored): string {
  const { name, runs, chats, unlisted, messages, added, addedChats, damaged, unusedMaps } = restored
  const which = runs > 1 ? `${name} and ${countText(runs - 1, 'earlier archive')}` : name
  const contents = archivedText(chats, unlisted, messages)
  const lines = [
    `${which}: ${contents}; restored ${countText(addedChats, 'chat')} and ${countText(added, 'message')}`,
    ...damaged.map((id) => `damaged chat: ${id}`),
    ...unusedMaps.map((folder) => `--map ${folder}: no chat of this archive is in that folder`),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}
