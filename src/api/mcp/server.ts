import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { redacting, type McpSource } from './source.ts'
import { describeChat, getChat, listChats } from './tools/chats.ts'
import { readMessages } from './tools/read-messages.ts'
import { searchChats } from './tools/search-chats.ts'
import { shortLine, shortTime, type Tool } from './tools/tool.ts'
import { getUsage, listLosses } from './tools/usage-and-losses.ts'
import { whyCode } from './tools/why-code.ts'
import type { Project } from '../http/schemas/projects.ts'

export const tools: readonly Tool[] = [searchChats, readMessages, getChat, listChats, whyCode, getUsage, listLosses]

const INSTRUCTIONS =
  'The mirror of all Cursor chats on this machine, read-only. Search first, then read around a hit. Every answer says what it left out and gives the exact next call.'

interface McpOptions {
  /** False shows secrets as they are. */
  readonly isRedacted: boolean
}

/** A server with all tools, resources and prompts. It only reads. */
export function createMcpServer(given: McpSource, { isRedacted }: McpOptions): McpServer {
  const source = isRedacted ? redacting(given) : given
  const server = new McpServer({ name: 'cursordex', version: given.version }, { instructions: INSTRUCTIONS })
  for (const tool of tools) {
    const { name, title, description, parameters } = tool
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    server.registerTool(name, { title, description, inputSchema: parameters.strict(), annotations }, async (args) => {
      try {
        return { content: [{ type: 'text' as const, text: await tool.answer(args, source) }] }
      } catch (error) {
        return { isError: true, content: [{ type: 'text' as const, text: explain(error) }] }
      }
    })
  }
  addResources(server, source)
  addPrompts(server)
  return server
}

/** What was wrong, and what would be right. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` ${error.hint}` : ''
  return `${error.message}${hint}`
}

function addResources(server: McpServer, source: McpSource): void {
  const chats = new ResourceTemplate('cursordex://chats/{id}', {
    list: async () => {
      const { items } = (await source.get('/api/chats', { limit: 20 })) as { items: { id: string; title: string }[] }
      return {
        resources: items.map(({ id, title }) => ({
          uri: `cursordex://chats/${encodeURIComponent(id)}`,
          name: shortLine(title, 100),
          mimeType: 'text/plain',
        })),
      }
    },
  })
  const chatFacts = { title: 'Chat', description: 'The digest of one chat.', mimeType: 'text/plain' }
  server.registerResource('chat', chats, chatFacts, async (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: await describeChat(decoded(id), source) }],
  }))
  const projects = new ResourceTemplate('cursordex://projects/{id}', {
    list: async () => {
      const { items } = (await source.get('/api/projects', { limit: 50 })) as { items: Project[] }
      return {
        resources: items.map(({ id, name }) => ({
          uri: `cursordex://projects/${encodeURIComponent(id)}`,
          name: shortLine(name, 100),
          mimeType: 'text/plain',
        })),
      }
    },
  })
  const projectFacts = { title: 'Project', description: 'One project and its newest chats.', mimeType: 'text/plain' }
  server.registerResource('project', projects, projectFacts, async (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: await describeProject(decoded(id), source) }],
  }))
}

/** Variables of a template arrive percent-encoded. */
const decoded = (value: string | readonly string[] | undefined): string => decodeURIComponent(String(value ?? ''))

async function describeProject(id: string, source: McpSource): Promise<string> {
  const project = (await source.get(`/api/projects/${encodeURIComponent(id)}`)) as Project
  const chats = await listChats.answer(listChats.parameters.parse({ project: id }), source)
  return [
    `${project.name} | ${project.path ?? project.uri}`,
    `${project.chatCount} chats, ${project.messageCount} messages | ${shortTime(project.firstActivityAt)} to ${shortTime(project.lastActivityAt)}`,
    '',
    chats,
  ].join('\n')
}

const say = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] })

function addPrompts(server: McpServer): void {
  server.registerPrompt(
    'recall',
    {
      title: 'Recall what was decided',
      description: 'Finds what past chats said about a topic.',
      argsSchema: z.object({ topic: z.string().describe('What to recall.') }),
    },
    ({ topic }) =>
      say(
        `Search my past Cursor chats for "${topic}" with search_chats. Read around the best hits with read_messages. Then tell me briefly what was decided and why, with the id and date of each chat you used. Say so if nothing fits.`,
      ),
  )
  server.registerPrompt(
    'why',
    {
      title: 'Why is this code so',
      description: 'Finds the chat that a file or commit came from.',
      argsSchema: z.object({ target: z.string().describe('A path or a commit.') }),
    },
    ({ target }) =>
      say(
        `Use why_code to find the chats behind ${target}, read the likeliest with read_messages, and explain why the code is as it is. Name the chat and its date.`,
      ),
  )
  server.registerPrompt(
    'weekly-summary',
    {
      title: 'Summary of a week',
      description: 'Summarizes the chats of the last seven days.',
      argsSchema: z.object({ project: z.string().optional().describe('Only this project.') }),
    },
    ({ project }) =>
      say(
        `List my chats of the last seven days with list_chats (from: "7d"${project === undefined ? '' : `, project: "${project}"`}), look at each with get_chat, and write a summary: what was done, what is open. Add the tokens of the week with get_usage.`,
      ),
  )
}
