import { join } from 'node:path'
import type { Role } from '../../../src/model/message.ts'
import { bytesField, cliFolder, CliStore, encodeState, numberField } from '../cursor.ts'

export interface CliMessage {
  readonly role: Role
  /** Its first text; null if it has none. */
  readonly text: string | null
  /** Names and outputs of its tool calls. */
  readonly tools: readonly (readonly [name: string, output: unknown])[]
  /** Time of the message in epoch milliseconds; null if unknown. */
  readonly atMs: number | null
}

/** A format in which the command line stored a chat, and the expected result. */
export interface CliEra {
  readonly name: string
  /** Null if the store contains no chat. */
  readonly chatId: string | null
  readonly title: string | null
  /** Normalised; null if nothing names it. */
  readonly rootUri: string | null
  readonly messages: readonly CliMessage[]
  /** Writes it into one of Cursor's home folders. */
  write(home: string): void
}

/** A word in data that must not be read: system prompts, the key of the blobs, abandoned branches. */
export const cliCanary = 'canary-that-the-command-line-keeps-to-itself'

/** The folder in which the chats began. */
export const cliRoot = '/yard/forge'

export const user = (text: string) => ({
  role: 'user',
  content: [{ type: 'text', text: `<user_query>\n${text}\n</user_query>` }],
})
export const assistant = (...content: readonly unknown[]) => ({ role: 'assistant', id: '1', content })
export const say = (text: string) => ({ type: 'text', text })
export const call = (toolCallId: string, toolName: string, args: unknown) => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  args,
})
export const result = (toolCallId: string, toolName: string, output: unknown, more: object = {}) => ({
  role: 'tool',
  id: toolCallId,
  content: [{ type: 'tool-result', toolName, toolCallId, result: output, ...more }],
})
export const system = { role: 'system', content: `You are an agent. ${cliCanary}` }
export const preface = {
  role: 'user',
  content: `<user_info>\nOS: linux\n</user_info>\n\n<git_status>\n${cliCanary}\n</git_status>`,
}

const told = (role: Role, text: string | null, ...tools: CliMessage['tools']): CliMessage => ({
  role,
  text,
  tools,
  atMs: null,
})
const at = (atMs: number, message: CliMessage): CliMessage => ({ ...message, atMs })

const facts = (agentId: string, latestRootBlobId: string) => ({
  agentId,
  latestRootBlobId,
  name: 'New Agent',
  mode: 'default',
  createdAt: Date.UTC(2026, 5, 2),
  lastUsedModel: 'opus',
  blobEncryptionKey: cliCanary,
})

/** One list of blobs, and the branch that was abandoned when a prompt was reverted. */
export const eraList: CliEra = {
  name: 'a list of blobs, with a branch that was left',
  chatId: 'era-cli-list',
  title: 'Temper the blade',
  rootUri: `file://${cliRoot}`,
  messages: [
    told('user', 'How hot is the forge?'),
    told('assistant', 'I look.', ['Shell', { celsius: 900 }]),
    told('assistant', 'Nine hundred degrees.'),
  ],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-list'))
    const look = call('c1', 'Shell', { command: 'thermometer --read' })
    const begun = [system, preface, user('How hot is the forge?'), assistant(say('I look.'), look)]
    const entries = begun.map((message) => store.blob(message))
    store.blob(encodeState({ entries: [...entries, store.blob(user(cliCanary))] }))
    const rest = [result('c1', 'Shell', '{"celsius":900}'), assistant(say('Nine hundred degrees.'))]
    const root = encodeState({ entries: [...entries, ...rest.map((message) => store.blob(message))] })
    store.facts(facts('era-cli-list', store.blob(root)))
    store.sidecar({ schemaVersion: 1, hasConversation: true, cwd: cliRoot, title: 'Temper the blade' })
    store.close()
  },
}

/** Messages inside the state, and the old list of turns beside the new one. The blob of one turn is gone. */
export const eraTree: CliEra = {
  name: 'messages in the state itself, with the old list of turns',
  chatId: 'era-cli-tree',
  title: 'Anvil',
  rootUri: `file://${cliRoot}`,
  messages: [told('user', 'Which anvil?'), told('assistant', 'The large one.'), told('user', 'Thank you kindly')],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-tree'), 'delete')
    const answer = store.blob([assistant(say('The large one.'))])
    const entries = [{ inline: system }, { inline: user('Which anvil?') }, answer, { inline: user('Thank you kindly') }]
    const turns = ['ab'.repeat(32), writeTurn(store, { prompt: 'Thank you kindly', steps: [] })]
    const root = store.blob(encodeState({ entries, turns, oldTurns: turns }))
    const { name: _, ...rest } = facts('era-cli-tree', root)
    store.fact('0', JSON.stringify({ ...rest, name: 'Anvil' }))
    store.sidecar({ schemaVersion: 1, cwd: cliRoot })
    store.close()
  },
}

/** Cursor archived the messages that it replaced by a summary. */
export const eraArchive: CliEra = {
  name: 'a summary, with an archive of what it replaced',
  chatId: 'era-cli-archive',
  title: 'Tongs',
  rootUri: `file://${cliRoot}`,
  messages: [
    told('user', 'How long are the tongs?'),
    told('assistant', null, ['Shell', { inches: 20 }]),
    told('user', 'The tongs were measured.'),
    told('user', 'Make them longer'),
  ],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-archive'))
    const old = [user('How long are the tongs?'), assistant(call('c1', 'Shell', { command: 'measure' }))]
    const messages = [...old, result('c1', 'Shell', '{"inches":20}')].map((message) => store.blob(message))
    const own = [system, summary('The tongs were measured.'), user('Make them longer')]
    const entries = own.map((message) => store.blob(message))
    const archives = [store.blob(encodeArchive(messages, entries[1]))]
    store.facts(facts('era-cli-archive', store.blob(encodeState({ entries, archives }))))
    store.sidecar({ cwd: cliRoot, title: 'Tongs' })
    store.close()
  },
}

const bentAtMs = Date.UTC(2026, 5, 2, 9, 30)
const punchedAtMs = Date.UTC(2026, 5, 2, 9, 31)

/** After a summary, only the turns still contain the beginning; they also contain the times. */
export const eraSummary: CliEra = {
  name: 'a summary, with turns that tell what it replaced',
  chatId: 'era-cli-summary',
  title: 'Horseshoe',
  rootUri: `file://${cliRoot}`,
  messages: [
    at(bentAtMs, told('user', 'Bend the horseshoe')),
    at(bentAtMs + 1000, told('assistant', null, ['shell', null])),
    at(bentAtMs + 2000, told('assistant', 'Bent over the horn.')),
    told('user', 'The horseshoe was bent.'),
    at(punchedAtMs, told('user', 'Now punch the holes')),
    at(punchedAtMs + 1000, told('assistant', 'Eight holes.')),
  ],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-summary'))
    const turns = [
      writeTurn(store, {
        prompt: 'Bend the horseshoe',
        atMs: bentAtMs,
        steps: [shellStep('bend', '', bentAtMs + 1000), textStep('Bent over the horn.', bentAtMs + 2000)],
      }),
      writeTurn(store, {
        prompt: 'Now punch the holes',
        atMs: punchedAtMs,
        steps: [textStep('Eight holes.', punchedAtMs + 1000)],
      }),
    ]
    const own = [
      system,
      summary('The horseshoe was bent.'),
      user('Now punch the holes'),
      assistant(say('Eight holes.')),
    ]
    const root = encodeState({ entries: own.map((message) => store.blob(message)), turns, oldTurns: turns })
    store.facts(facts('era-cli-summary', store.blob(root)))
    store.sidecar({ cwd: cliRoot, title: 'Horseshoe' })
    store.close()
  },
}

/** Cursor's replacement for messages that no longer fit. */
export const summary = (text: string) => ({
  role: 'user',
  content: [{ type: 'text', text }],
  providerOptions: { cursor: { isSummary: true } },
})

export const encodeArchive = (messages: readonly string[], summaryId?: string): Buffer =>
  Buffer.concat([
    ...messages.map((id) => bytesField(1, Buffer.from(id, 'hex'))),
    bytesField(2, Buffer.from('words of the summary')),
    ...(summaryId === undefined ? [] : [bytesField(4, Buffer.from(summaryId, 'hex'))]),
  ])

const textField = (text: string) => bytesField(1, Buffer.from(text))
const timed = (bytes: Buffer, atMs?: number) =>
  atMs === undefined ? bytes : Buffer.concat([bytes, numberField(9, atMs)])

export const textStep = (text: string, atMs?: number): Buffer => bytesField(1, timed(textField(text), atMs))
export const shellStep = (command: string, callId = '', atMs?: number): Buffer =>
  bytesField(
    2,
    timed(bytesField(1, bytesField(1, Buffer.concat([textField(command), bytesField(4, Buffer.from(callId))]))), atMs),
  )

export interface TurnPlan {
  readonly prompt: string
  readonly steps: readonly Buffer[]
  /** When the prompt was sent. */
  readonly atMs?: number
}

/** Writes a turn with its prompt and steps, each under its own id. @returns the turn's id */
export function writeTurn(store: Pick<CliStore, 'blob'>, { prompt, steps, atMs }: TurnPlan): string {
  const idOf = (blob: Buffer) => Buffer.from(store.blob(blob), 'hex')
  const fields = [
    bytesField(1, idOf(timed(textField(prompt), atMs))),
    ...steps.map((step) => bytesField(2, idOf(step))),
  ]
  return store.blob(bytesField(1, Buffer.concat([...fields, bytesField(3, Buffer.from('request'))])))
}

/** Only the turns contain the messages; there is one row per fact. */
export const eraTurns: CliEra = {
  name: 'turns alone, with a row for each fact',
  chatId: 'era-cli-turns',
  title: null,
  rootUri: `file://${cliRoot}`,
  messages: [
    told('user', 'Quench it in oil'),
    told('assistant', null),
    told('assistant', 'Quenched in warm oil.'),
    told('assistant', null, ['shell', null]),
  ],
  write(home) {
    const store = new CliStore(cliFolder(home, '/elsewhere', 'era-cli-turns'))
    const text = (words: string) => bytesField(1, Buffer.from(words))
    const idOf = (blob: Buffer) => Buffer.from(store.blob(blob), 'hex')
    const prompt = idOf(Buffer.concat([text('Quench it in oil'), bytesField(2, Buffer.from('m-1'))]))
    const steps = [
      bytesField(3, Buffer.concat([text('Oil cools slower.'), numberField(2, 1200)])),
      bytesField(1, text('Quenched in warm oil.')),
      bytesField(2, bytesField(1, bytesField(1, text('ls')))),
    ]
    const inner = [bytesField(1, prompt), ...steps.map((step) => bytesField(2, idOf(step)))]
    const turn = store.blob(bytesField(1, Buffer.concat([...inner, bytesField(3, Buffer.from('request'))])))
    const root = store.blob(
      encodeState({ entries: [store.blob(system)], turns: [turn], workspaceUris: [`file://${cliRoot}`] }),
    )
    for (const [key, value] of Object.entries(facts('era-cli-turns', root))) store.fact(key, String(value))
    store.close()
  },
}

/** Written by another editor that uses the agent. */
export const eraSession: CliEra = {
  name: 'a session of another editor',
  chatId: 'era-cli-session',
  title: 'Bellows',
  rootUri: null,
  messages: [told('user', 'Mend the bellows'), told('assistant', 'Mended with leather.')],
  write(home) {
    const store = new CliStore(join(home, 'acp-sessions', 'era-cli-session'))
    const messages = [user('Mend the bellows'), assistant(say('Mended with leather.'))]
    const root = encodeState({ entries: messages.map((message) => store.blob(message)) })
    store.facts(facts('era-cli-session', store.blob(root)))
    store.sidecar({ title: 'Bellows', hasConversation: true })
    store.close()
  },
}

/** A session that was opened and closed without a message. */
export const eraSilent: CliEra = {
  name: 'a window in which nothing was said',
  chatId: null,
  title: null,
  rootUri: null,
  messages: [],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-silent'))
    store.facts(facts('era-cli-silent', ''))
    store.sidecar({ schemaVersion: 1, hasConversation: false, cwd: cliRoot })
    store.close()
  },
}

export const cliEras: readonly CliEra[] = [eraList, eraTree, eraArchive, eraSummary, eraTurns, eraSession, eraSilent]
