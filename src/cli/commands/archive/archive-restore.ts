import { resolve } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod/mini'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { countText } from '../../terminal/formats.ts'
import { addExamples, addJson, addRepeatable } from '../../input/options.ts'
import { pathPart, refuseEmpty } from '../../input/refuse-empty.ts'
import { printable } from '../../../text/printable.ts'
import { decodeAnswer, printAnswer, type Session } from '../../session.ts'
import { chatsDone, withProgress } from '../with-progress.ts'
import { statusAnswer } from '../../../api/http/schemas/status.ts'
import { restoredAnswer, type ArchiveRestored } from '../../../api/http/schemas/archives.ts'

interface RestoreOptions {
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
  const { from, map = [] } = command.opts<RestoreOptions>()
  refuseEmpty({ '--from': from })
  const path = `/api/archives/${pathPart('name', given ?? 'newest')}/restore`
  const body = { ...(from === undefined ? {} : { from: resolve(from) }), map: mapOf(map) }
  await session.ask(command, async (answers) => {
    const answer = await withProgress(session, answers.post(path, body), () => showProgress(answers, session))
    const { ok, damaged, manifest } = await printAnswer(restoredAnswer, answer, restoredText, command, session)
    if (ok) return
    const what =
      manifest === null ? '' : `, and ${given === undefined ? 'a' : 'its'} manifest is damaged: ${printable(manifest)}`
    const hint =
      given === undefined
        ? 'Everything undamaged in the folder is restored. A copy of the folder may contain the rest.'
        : 'Other archives may contain what is missing: cursordex archive restore'
    throw new UserError('archive-damaged', `${countText(damaged.length, 'chat')} damaged${what}.`, hint)
  })
}

/**
 * Reads `/Users/a=/home/b`.
 * @throws UserError `bad-map`, exit code 2
 */
function mapOf(given: readonly string[]): Record<string, string> {
  const map: Record<string, string> = {}
  for (const value of given) {
    const [there, here, ...more] = value.split('=')
    if (!there || !here) throw badMap(value, 'does not name two folders')
    if (more.length > 0) throw badMap(value, 'can be split in several ways')
    if (there in map) throw badMap(value, 'maps a folder twice')
    map[there] = here
  }
  return map
}

const badMap = (value: string, why: string): UserError => {
  const hint = 'Write it like --map /Users/a=/home/b, with two absolute paths or URIs.'
  return new UserError('bad-map', `--map ${value} ${why}.`, hint, { exitCode: 2 })
}

async function showProgress(answers: Answers, session: Session): Promise<void> {
  const { archives } = decodeAnswer(
    z.pick(statusAnswer, { archives: true }),
    await answers.get('/api/status', new URLSearchParams()),
  )
  const { atWork } = archives
  if (atWork?.act === 'restore' && atWork.total > 0) await session.progress.show(chatsDone(atWork))
}

function restoredText(restored: ArchiveRestored): string {
  const { name, runs, chats, messages, added, addedChats, damaged, unusedMaps } = restored
  const which = runs > 1 ? `${name} and ${countText(runs - 1, 'earlier archive')}` : name
  const contents = `${countText(chats, 'chat')}, ${countText(messages, 'message')}`
  const lines = [
    `${which}: ${contents}; restored ${countText(addedChats, 'chat')} and ${countText(added, 'message')}`,
    ...damaged.map((id) => `damaged chat: ${id}`),
    ...unusedMaps.map((folder) => `--map ${folder}: no chat of this archive is in that folder`),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}
