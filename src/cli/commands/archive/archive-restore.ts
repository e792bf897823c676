import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { UserError } from '../../../model/user-error.ts'
import type { Answers } from '../../client/answers.ts'
import { countText } from '../../terminal/formats.ts'
import { addExamples, addJson, addRepeatable, type JsonOption } from '../../input/options.ts'
import { newestArchive, chatsDone } from './archive-answers.ts'
import { pathPart, refuseEmpty } from '../../input/refuse-empty.ts'
import { printable, printableJson } from '../../../text/printable.ts'
import { decodeAnswer, type Session } from '../../session.ts'

const restoredAnswer = z.object({
  name: z.string(),
  runs: z.number().default(1),
  ok: z.boolean(),
  chats: z.number(),
  messages: z.number(),
  added: z.number(),
  addedChats: z.number(),
  damaged: z.array(z.string()),
  manifest: z.string().nullable(),
  unusedMaps: z.array(z.string()),
})

interface RestoreOptions extends JsonOption {
  readonly from?: string
  readonly map?: readonly string[]
}

export function addRestore(parent: Command, session: Session): void {
  const command = parent
    .command('restore')
    .argument('[name]', 'an archive; all of the folder where none is named, of each chat the newest')
    .description('bring back the chats and messages of the archives that nothing else holds')
    .option('--from <folder>', 'an archive folder that was brought from elsewhere; it is only read')
  addRepeatable(command, '--map <there=here>', 'a folder as it was called there, and what it is called here')
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
    const asked = answers.post(path, body).catch(async (error: unknown) => {
      throw given === undefined ? await explained(error, from, answers) : error
    })
    const answer = await watching(asked, answers, session)
    const restored = decodeAnswer(restoredAnswer, answer)
    await session.print(json === true ? `${printableJson(answer)}\n` : restoredText(restored))
    if (restored.ok) return
    const { damaged, manifest } = restored
    const what =
      manifest === null ? '' : `, and ${given === undefined ? 'a' : 'its'} manifest is damaged: ${printable(manifest)}`
    const hint =
      given === undefined
        ? 'All that is whole in any archive of the folder is back; a copy of the folder may hold the rest.'
        : 'The others may hold what is missing: cursordex archive restore'
    throw new UserError('archive-damaged', `${countText(damaged.length, 'chat')} damaged${what}.`, hint)
  })
}

/** Where no archive was named, none in the list is what was meant. */
async function explained(error: unknown, from: string | undefined, answers: Answers): Promise<unknown> {
  if (!(error instanceof UserError) || error.code !== 'archive-not-found') return error
  if (from !== undefined) {
    return new UserError(error.code, error.message, 'It is looked for where --from says.', { cause: error })
  }
  await newestArchive(answers)
  return error
}

/**
 * Reads `/Users/a=/home/b`. A path may hold the sign too: it parts what are two absolute folders.
 * @throws UserError `bad-map`, exit code 2
 */
function mapOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((words) => {
    const places = [...words.matchAll(/=/g)].map(({ index }) => index)
    const parted = places.map((at) => [words.slice(0, at), words.slice(at + 1)] as const)
    const fitting = parted.filter(([there, here]) => isAbsolute(there) && isAbsolute(here))
    const [pair] = fitting
    if (pair !== undefined && fitting.length === 1) return pair
    const why = pair === undefined ? 'does not name two absolute folders' : 'can be read in several ways'
    throw new UserError('bad-map', `--map ${words} ${why}.`, HOW, { exitCode: 2 })
  })
  const map = Object.fromEntries(pairs)
  if (Object.keys(map).length === pairs.length) return map
  throw new UserError('bad-map', 'One folder is mapped twice.', HOW, { exitCode: 2 })
}

const HOW = 'It must be as in --map /Users/a=/home/b, each a whole path or a URI.'
const isAbsolute = (folder: string): boolean => /^(\/|[A-Za-z]:[\\/]|\\\\|[A-Za-z][\w+.-]*:\/\/)/.test(folder)

const EVERY_MS = 300
const statusAnswer = z.object({
  archives: z.object({ atWork: z.object({ act: z.string(), done: z.number(), total: z.number() }).nullable() }),
})

/** Shows on a terminal how far it is, until it is answered. */
async function watching(asked: Promise<unknown>, answers: Answers, session: Session): Promise<unknown> {
  if (!session.progress.isSeen) return asked
  const ended = new AbortController()
  const end = (): void => ended.abort()
  asked.then(end, end)
  while (!ended.signal.aborted) {
    await sleep(EVERY_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    // A look that fails shows nothing: what becomes of the restore is told by its own answer.
    if (!ended.signal.aborted) await showProgress(answers, session).catch(() => undefined)
  }
  await session.progress.show('')
  return asked
}

async function showProgress(answers: Answers, session: Session): Promise<void> {
  const { archives } = decodeAnswer(statusAnswer, await answers.get('/api/status', new URLSearchParams()))
  const { atWork } = archives
  if (atWork?.act === 'restore' && atWork.total > 0) await session.progress.show(chatsDone(atWork))
}

function restoredText(restored: z.infer<typeof restoredAnswer>): string {
  const { name, runs, chats, messages, added, addedChats, damaged, unusedMaps } = restored
  const which = runs > 1 ? `${name} and ${countText(runs - 1, 'archive')} before it` : name
  const held = `${countText(chats, 'chat')}, ${countText(messages, 'message')}`
  const lines = [
    `${which}: ${held}; ${countText(addedChats, 'chat')} and ${countText(added, 'message')} came back`,
    ...damaged.map((id) => `damaged chat: ${id}`),
    ...unusedMaps.map((folder) => `--map ${folder}: no chat of this archive lies there`),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}
