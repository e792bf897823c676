import { Option, type Command } from 'commander'
import * as z from 'zod/mini'
import type { Answers } from '../client/answers.ts'
import { addExamples, addJson, queryOf, wholeNumber, type Options } from '../input/options.ts'
import { CHAT_ID, completeChatPart } from '../input/chat-id.ts'
import { pathPart } from '../input/refuse-empty.ts'
import { printableJson, printable } from '../../text/printable.ts'
import { decodeAnswer, type Session } from '../session.ts'
import { continues, renderHead, renderMessage } from './show-text.ts'
import { shownIds } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { chat as chatSchema } from '../../api/answers/chats.ts'
import { message as messageSchema, messagesAnswer, type Message } from '../../api/answers/messages.ts'

const PAGE_MESSAGES_MAX = 200

const pageAnswer = z.looseObject({ items: z.array(z.unknown()), total: messagesAnswer.shape.total })
type PageAnswer = z.infer<typeof pageAnswer>

export function addCommand(program: Command, session: Session): void {
  const anyNumber = wholeNumber(1, Number.MAX_SAFE_INTEGER)
  const command = program
    .command('show')
    .argument('<chatId>', `the chat: ${CHAT_ID}`)
    .option('--orphans', 'also messages that the chat no longer lists, at the end')
    .option('-n, --limit <n>', 'how many messages to print at most; by default all', anyNumber)
    .option('--around <messageId>', 'only the messages around this one; the beginning of its id is enough')
    .option('--full', 'on a terminal, show thinking and tool calls in full')
    .addOption(new Option('--as <format>', 'print the chat as Markdown').choices(['md', 'markdown']).conflicts('json'))
    .option('--no-pager', 'do not use a pager on a terminal')
  addJson(command)
  const example = 'cursordex show 0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
  addExamples(command, example, `${example} --limit 20 --json`)
  command.action((chatId: string) => show(chatId, command, session))
}

async function show(chatId: string, command: Command, session: Session): Promise<void> {
  const typed = command.opts<Options>()
  const given = pathPart('chatId', chatId)
  await session.ask(command, async (answers) => {
    const path = `/api/chats/${await completeChatPart(answers, given)}`
    // The output shows ids of messages after an @.
    const around = typed.around?.replace(/^@/, '')
    const options = around === undefined ? typed : { ...typed, around }
    if (options.json === true) {
      const pages = readPages(answers, `${path}/messages`, options)
      return session.print(`${printableJson(await joined(pages))}\n`)
    }
    if (options.as === undefined) {
      return session.paged(options.pager !== false, (print) => printChat(path, options, answers, session.screen, print))
    }
    const query = queryOf({ as: 'markdown', includeOrphans: options.orphans })
    const shown = session.screen.width === null ? (text: string) => text : printable
    await session.paged(options.pager !== false, async (print) => {
      for await (const piece of answers.text(`${path}/export`, query)) await print(shown(piece))
    })
  })
}

async function printChat(
  path: string,
  options: Options,
  answers: Answers,
  screen: Screen,
  print: Session['print'],
): Promise<void> {
  const head = decodeAnswer(chatSchema, await answers.get(path, new URLSearchParams()))
  const isFull = screen.width === null || options.full === true
  const view = { screen, width: screen.width ?? Infinity, isFull }
  let before: Message | null = null
  // The head is printed only after the first page arrived, so that an error prints nothing.
  let start = renderHead(head, view)
  for await (const page of readPages(answers, `${path}/messages`, options)) {
    if (start !== '') await print(start)
    start = ''
    const messages = page.items.map((item) => decodeAnswer(messageSchema, item))
    const ids = messages.map(({ id }) => id)
    const short = shownIds(ids, screen)
    for (const message of messages) {
      await print(renderMessage(message, view, isFull || !continues(message, before) ? short(message.id) : null))
      before = message
    }
  }
}

/** The pages of a thread. Each is requested after the one before was used. */
async function* readPages(
  answers: Answers,
  path: string,
  { around, orphans, limit: wanted = Infinity }: Options,
): AsyncGenerator<PageAnswer> {
  let total = Infinity
  for (let offset = 0; offset < Math.min(wanted, total);) {
    const limit = Math.min(PAGE_MESSAGES_MAX, wanted - offset)
    // The page around a message is the only one, and the server knows its size.
    const place = around === undefined ? { limit, offset } : { limit: wanted === Infinity ? undefined : limit }
    const query = queryOf({ around, includeOrphans: orphans, ...place })
    const page = decodeAnswer(pageAnswer, await answers.get(path, query))
    yield page
    if (around !== undefined || page.items.length === 0) return
    offset += page.items.length
    total = page.total
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
