import type { Command } from 'commander'
import { z } from 'zod'
import type { Answers } from '../client/answers.ts'
import { addExamples, addJson, queryOf, wholeNumber } from '../input/options.ts'
import type { JsonOption } from '../input/options.ts'
import { pathPart } from '../input/path-part.ts'
import { printableJson } from '../../text/printable.ts'
import { decodeAnswer } from '../session.ts'
import type { Session } from '../session.ts'
import { chatHead, messageShape, renderChatHead, renderMessage } from './thread-text.ts'

const PAGE_MESSAGES_MAX = 200

const pageAnswer = z.looseObject({ items: z.array(z.unknown()), total: z.number() })
type PageAnswer = z.infer<typeof pageAnswer>

interface ShowOptions extends JsonOption {
  readonly orphans?: true
  readonly limit?: number
  readonly around?: string
}

export function addShowCommand(program: Command, session: Session): void {
  const command = program
    .command('show')
    .description('print a chat')
    .argument('<chatId>', 'its id, as "chats" and "search" list it')
    .option('--orphans', 'also messages that the chat names no more, at the end')
    .option('--limit <n>', 'at most so many messages', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--around <messageId>', 'only the messages around this one')
  addJson(command)
  addExamples(
    command,
    'cursordex show 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
    'cursordex show 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9 --limit 20 --json',
  )
  command.action((chatId: string) => show(chatId, command, session))
}

async function show(chatId: string, command: Command, session: Session): Promise<void> {
  const options = command.opts<ShowOptions>()
  const path = `/api/chats/${pathPart('chatId', chatId)}`
  await session.ask(command, async (answers) => {
    const pages = readPages(answers, `${path}/messages`, options)
    if (options.json === true) return session.print(`${printableJson(await joined(pages))}\n`)
    const head = decodeAnswer(chatHead, await answers.get(path, new URLSearchParams()))
    let isFirst = true
    for await (const page of pages) {
      // Nothing is printed before it is known that there is a page to show.
      if (isFirst) await session.print(renderChatHead(head, session.screen))
      isFirst = false
      for (const item of page.items) {
        await session.print(`\n${renderMessage(decodeAnswer(messageShape, item), session.screen)}`)
      }
    }
  })
}

/** The pages of a thread, each asked for when the one before is done with. */
async function* readPages(answers: Answers, path: string, options: ShowOptions): AsyncGenerator<PageAnswer> {
  const { around, orphans } = options
  const wanted = options.limit ?? Number.POSITIVE_INFINITY
  const fixed = { around, includeOrphans: orphans }
  if (around !== undefined) {
    const limit = options.limit === undefined ? undefined : Math.min(options.limit, PAGE_MESSAGES_MAX)
    yield decodeAnswer(pageAnswer, await answers.get(path, queryOf({ ...fixed, limit })))
    return
  }
  let offset = 0
  while (offset < wanted) {
    const limit = Math.min(PAGE_MESSAGES_MAX, wanted - offset)
    const page = decodeAnswer(pageAnswer, await answers.get(path, queryOf({ ...fixed, limit, offset })))
    yield page
    offset += page.items.length
    if (page.items.length === 0 || offset >= page.total) return
  }
}

/** One page as it came; several as the one page they would have been without the limit on pages. */
async function joined(pages: AsyncGenerator<PageAnswer>): Promise<unknown> {
  const all: PageAnswer[] = []
  for await (const page of pages) all.push(page)
  const [first] = all
  if (first === undefined || all.length === 1) return first
  const items = all.flatMap((page) => page.items)
  return { ...first, items, limit: items.length }
}
