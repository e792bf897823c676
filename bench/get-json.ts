import { Agent, get, type IncomingMessage } from 'node:http'

/** Connections are kept. Node's own `fetch` takes about as long as the daemon for what does nothing. */
const agent = new Agent({ keepAlive: true })

/** @throws Error where the answer is not 200 */
export async function getJson<Answer>(url: string): Promise<Answer> {
  // After a statement that blocked the bench for seconds, the connection that was kept may be gone.
  const { status, text } = await ask(url).catch(() => ask(url))
  if (status !== 200) throw new Error(`${url} answered ${status}: ${text}`)
  return JSON.parse(text) as Answer
}

interface Told {
  readonly status: number | undefined
  readonly text: string
}

function ask(url: string): Promise<Told> {
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      let text = ''
      answer.setEncoding('utf8').on('data', (more: string) => (text += more))
      answer.on('end', () => resolve({ status: answer.statusCode, text })).on('error', reject)
    }
    get(url, { agent }, onAnswer).on('error', reject)
  })
}
