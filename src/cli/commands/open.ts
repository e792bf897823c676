import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { rotateToken } from '../../engine/data-folder.ts'
import { UserError } from '../../model/user-error.ts'
import { daemonAnswers, isTokenAsked, readToken, type Answers } from '../client/client.ts'
import { completeChatId } from '../input/chat-id.ts'
import { addExamples, addGroup, type Options } from '../input/options.ts'
import type { Session } from '../session.ts'

export function addCommand(program: Command, session: Session, name: string): void {
  if (name === 'token') return addToken(program, session)
  const command = program
    .command('open')
    .description('open the page in the browser: all chats, one chat, or a search')
    .argument('[chat or query...]', 'a chat by its id or the beginning of it, or words to search for')
    .option('--print', 'print the address and open nothing')
  addExamples(command, 'cursordex open', 'cursordex open connection pool')
  command.action(async (words: readonly string[]) => {
    const { dataDir } = session.settingsOf(command)
    const answers = await daemonAnswers(dataDir)
    const daemon = answers?.daemon ?? null
    if (answers === null || daemon === null) {
      const text = `No daemon serves ${dataDir}, so there is no page.`
      throw new UserError('no-daemon', text, 'Start one: cursordex serve')
    }
    const token = (await isTokenAsked(daemon.url)) ? readToken(dataDir) : null
    const address = addressOf(daemon.url, await placeOf(words.join(' '), answers), token)
    if (command.opts<Options>().print === true) return session.print(`${address}\n`)
    // Other accounts can read the command lines of programs, so a browser is not given the token.
    if (token === null && (await openInBrowser(address))) return session.note(`Opened ${address}\n`)
    await session.note(`${token === null ? 'No browser could be started. ' : ''}Open this address:\n`)
    await session.print(`${address}\n`)
  })
}

function addToken(program: Command, session: Session): void {
  const examples = ['cursordex token rotate', 'cursordex token rotate --data-dir /srv/cursordex'] as const
  const command = addGroup(program, 'token', 'manage the token that --auth asks for', ...examples)
  const rotate = command.command('rotate').description('make a new token; the old one stops working at once')
  addExamples(rotate, ...examples).action(() => {
    const path = rotateToken(session.settingsOf(rotate).dataDir)
    return session.print(`There is a new token in ${path}. Programs that used the old one need it.\n`)
  })
}

/** The chat with this id or the only one whose id begins so, else the search for these words. */
async function placeOf(words: string, answers: Answers): Promise<string> {
  if (words === '') return '/'
  const search = `/?${new URLSearchParams({ q: words }).toString()}`
  if (words.includes(' ')) return search
  try {
    const { id } = await answers.get('/api/chats/:id', { id: await completeChatId(answers, words) })
    return `/chats/${encodeURIComponent(id)}`
  } catch (error) {
    if (error instanceof UserError && error.code === 'chat-not-found') return search
    throw error
  }
}

/** The page takes the token from the fragment, which no server and no log receives. */
function addressOf(url: string, place: string, token: string | null): string {
  const address = new URL(place, url)
  if (token !== null) address.hash = `token=${encodeURIComponent(token)}`
  return address.href
}

/** Some openers end at once, others with the browser. After this time one that still runs has done its work. */
const OPEN_MS_MAX = 3000

function openInBrowser(address: string): Promise<boolean> {
  // They get no shell.
  const opener = { darwin: 'open', win32: 'rundll32 url.dll,FileProtocolHandler' }[process.platform as string]
  const [program = '', ...args] = (opener ?? 'xdg-open').split(' ')
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
    const timer = setTimeout(() => resolve(true), OPEN_MS_MAX)
    const end = (isOpen: boolean): void => {
      clearTimeout(timer)
      resolve(isOpen)
    }
    child.on('error', () => end(false)).on('exit', (code) => end(code === 0))
    child.unref()
  })
}
