import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The official client of agents, connected by the HTTP app. */
export async function connectAgent(request: (path: string, init: RequestInit) => Promise<Response>): Promise<Client> {
  const fetch = async (_: unknown, init: RequestInit = {}): Promise<Response> => request('/mcp', init)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1:4870/mcp'), { fetch }))
  return client
}

/** What a tool answers. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const [first] = content as { text: string }[]
  return { text: first?.text ?? '', isError: isError === true }
}

/** The call that an answer names for what follows; null at the end. */
export function nextOf(text: string): { readonly name: string; readonly args: Record<string, unknown> } | null {
  const match = /Next: (\w+) (\{.*\})$/m.exec(text)
  return match === null ? null : { name: match[1] ?? '', args: JSON.parse(match[2] ?? '') as Record<string, unknown> }
}

/** All answers of following the next calls to the end. */
export async function readAll(client: Client, name: string, args: Record<string, unknown>): Promise<string[]> {
  const texts: string[] = []
  for (let next: ReturnType<typeof nextOf> = { name, args }; next !== null && texts.length < 500;) {
    const { text } = await callTool(client, next.name, next.args)
    texts.push(text)
    next = nextOf(text)
  }
  return texts
}
