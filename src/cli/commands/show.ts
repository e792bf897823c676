import { Option, type Command } from 'commander'
import type { Chat } from '../../api/answers/chats.ts'
import type { Message } from '../../api/answers/messages.ts'
import type { ApiRoutes } from '../../api/http/routes.ts'
import { printable } from '../../text/printable.ts'
import { piecesOf, type Answers } from '../client/answers.ts'
import { CHAT_ID, completeChatId } from '../input/chat-id.ts'
import { addExamples, addJson, wholeNumber, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'
import { shownIds } from '../terminal/formats.ts'
import type { Screen } from '../terminal/screen.ts'
import { continues, renderHead, renderMessage } from './show-text.ts'

const PAGE_MESSAGES_MAX = 200

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

async function show(given: string, command: Command, session: Session): Promise<void> {
  const typed = command.opts<Options & { readonly as?: 'md' | 'markdown' }>()
  await session.ask(command, async (answers) => {
    const id = await completeChatId(answers, given)
    // The output shows ids of messages after an @.
    const around = typed.around?.replace(/^@/, '')
    const pages = readPages(answers, id, around === undefined ? typed : { ...typed, around })
    if (typed.json === true) return session.printJson(await joined(pages))
    await session.paged(typed.pager !== false, async (print) => {
      if (typed.as === undefined) {
        const chat = await answers.get('/api/chats/:id', { id })
        return printChat(chat, pages, typed.full === true, session.screen, print)
      }
      const query = { as: 'markdown', includeOrphans: typed.orphans } as const
      const shown = session.screen.width === null ? (text: string) => text : printable
      const response = await answers.open('/api/chats/:id/export', { id, query })
      for await (const piece of piecesOf(response)) await print(shown(piece))
    })
  })
}

async function printChat(
  chat: Chat,
  pages: AsyncIterable<MessagesPage>,
  isWanted: boolean,
  screen: Screen,
  print: Session['print'],
): Promise<void> {
  const isFull = screen.width === null || isWanted
  const view = { screen, width: screen.width ?? Infinity, isFull }
  let before: Message | null = null
  // The head is printed only after the first page arrived, so that an error prints nothing.
  let start = renderHead(chat, view)
  for await (const { items } of pages) {
    if (start !== '') await print(start)
    start = ''
    const short = shownIds(
      items.map(({ id }) => id),
      screen,
    )
    for (const message of items) {
      await print(renderMessage(message, view, isFull || !continues(message, before) ? short(message.id) : null))
      before = message
    }
  }
}

type MessagesPage = ApiRoutes['GET /api/chats/:id/messages']['answer']

/** The pages of a thread. Each is requested after the one before was used. */
async function* readPages(
  answers: Answers,
  id: string,
  { around, orphans, limit: wanted = Infinity }: Options,
): AsyncGenerator<MessagesPage> {
  let total = Infinity
  for (let offset = 0; offset < Math.min(wanted, total);) {
    const limit = Math.min(PAGE_MESSAGES_MAX, wanted - offset)
    // The page around a message is the only one, and the server knows its size.
    const place = around === undefined ? { limit, offset } : { limit: wanted === Infinity ? undefined : limit }
    const query = { around, includeOrphans: orphans, ...place }
    const page = await answers.get('/api/chats/:id/messages', { id, query })
    yield page
    if (around !== undefined || page.items.length === 0) return
    offset += page.items.length
    total = page.total
  }
}

/** The pages as the one page they would have been without the limit on pages. */
async function joined(pages: AsyncIterable<MessagesPage>): Promise<unknown> {
  const all: MessagesPage[] = []
  for await (const page of pages) all.push(page)
  const items = all.flatMap((page) => page.items)
  return all.length === 1 ? all[0] : { ...all[0], items, limit: items.length }
}
