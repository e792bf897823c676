import { join } from 'node:path'
import type { Role } from '../../../src/model/message.ts'
import { bytesField, CliStore, cliFolder, encodeState, numberField } from '../../../src/sample/cli-store.ts'

export interface CliMessage {
  readonly role: Role
  /** The first of its texts; null where it holds none. */
  readonly text: string | null
  /** Names and outputs of the tools it calls. */
  readonly tools: readonly (readonly [name: string, output: unknown])[]
}

/** A form in which the command line left a chat, and what is to be found in it. */
export interface CliEra {
  readonly name: string
  /** Null where the store gives no chat. */
  readonly chatId: string | null
  readonly title: string | null
  /** Normalised; null where nothing names it. */
  readonly rootUri: string | null
  readonly messages: readonly CliMessage[]
  /** Writes it into one of Cursor's home folders. */
  write(home: string): void
}

/** Stands in the stores where nobody may read: what the system says, the key of the blobs, branches that were left. */
export const cliCanary = 'canary-that-the-command-line-keeps-to-itself'

/** The folder in which the chats were begun. */
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

const told = (role: Role, text: string | null, ...tools: CliMessage['tools']): CliMessage => ({ role, text, tools })

const facts = (agentId: string, latestRootBlobId: string) => ({
  agentId,
  latestRootBlobId,
  name: 'New Agent',
  mode: 'default',
  createdAt: Date.UTC(2026, 5, 2),
  lastUsedModel: 'opus',
  blobEncryptionKey: cliCanary,
})

/** One list of blobs, and the branch that was left when a prompt was taken back. */
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

/** Messages inside the states, and states inside states. */
export const eraTree: CliEra = {
  name: 'a tree of states with the messages in them, of an old build',
  chatId: 'era-cli-tree',
  title: 'Anvil',
  rootUri: `file://${cliRoot}`,
  messages: [told('user', 'Which anvil?'), told('assistant', 'The large one.'), told('user', 'Thank you kindly')],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-tree'), 'delete')
    const inner = store.blob(encodeState({ entries: [{ inline: system }, { inline: user('Which anvil?') }] }))
    const middle = store.blob(
      encodeState({ entries: [{ subtree: inner }, store.blob([assistant(say('The large one.'))])] }),
    )
    const root = store.blob(encodeState({ entries: [{ subtree: middle }, { inline: user('Thank you kindly') }] }))
    const { name: _, ...rest } = facts('era-cli-tree', root)
    store.fact('0', JSON.stringify({ ...rest, name: 'Anvil' }))
    store.sidecar({ schemaVersion: 1, cwd: cliRoot })
    store.close()
  },
}

/** Only the turns tell what was said; a row for each fact. */
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

/** By an editor that talks to the agent. */
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

/** Opened, and closed again. */
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

export const cliEras: readonly CliEra[] = [eraList, eraTree, eraTurns, eraSession, eraSilent]
