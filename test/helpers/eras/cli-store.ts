import { join } from 'node:path'
import type { Role } from '../../../src/model/message.ts'
import { readJson } from '../cases.ts'
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

const facts = (agentId: string, latestRootBlobId: string) => ({
  agentId,
  latestRootBlobId,
  name: 'New Agent',
  mode: 'default',
  createdAt: Date.UTC(2026, 5, 2),
  lastUsedModel: 'opus',
  blobEncryptionKey: cliCanary,
})

/** Messages inside the state, and the old list of turns beside the new one. The blob of one turn is gone. */
const eraTree: CliEra = {
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
const eraTurns: CliEra = {
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

/** A session that was opened and closed without a message. */
const eraSilent: CliEra = {
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

/** A step with a call of the tool with this number. */
export const callStep = (tool: number, callId: string, args: Buffer, success?: Buffer): Buffer => {
  const outcome = success === undefined ? [] : [bytesField(2, bytesField(1, success))]
  return bytesField(
    2,
    Buffer.concat([
      bytesField(tool, Buffer.concat([bytesField(1, args), ...outcome])),
      bytesField(57, Buffer.from(callId)),
    ]),
  )
}
export const texts = (fields: Readonly<Record<number, string>>): Buffer =>
  Buffer.concat(Object.entries(fields).map(([number, text]) => bytesField(Number(number), Buffer.from(text))))

export const stateAt = (seconds: number): number => Date.UTC(2026, 8, 26) + seconds * 1000

/** What the state of autumn 2026 has beside its lists: times of turns, subagents, a goal, and calls with their results. */
export function writeState(store: CliStore, more: readonly Buffer[] = []): string {
  const idOf = (blob: Buffer) => Buffer.from(store.blob(blob), 'hex')
  const steps = [
    callStep(17, 'k-plan', texts({ 1: '# Temper slowly', 3: 'An overview', 4: 'Tempering' })),
    callStep(
      15,
      'k-mcp',
      Buffer.concat([texts({ 5: 'weigh', 9: 'scales' }), mapEntry('what', 'ingot')]),
      bytesField(1, bytesField(1, texts({ 1: 'nine pounds' }))),
    ),
    callStep(23, 'k-ask', Buffer.concat([texts({ 1: 'Which oil?' })]), bytesField(1, texts({ 1: 'q', 3: 'rapeseed' }))),
    callStep(
      12,
      'k-edit',
      texts({ 1: '/yard/forge/log.md' }),
      texts({ 5: '@@ -1 +1 @@\n-cold\n+hot', 6: 'cold', 7: 'hot' }),
    ),
    callStep(1, 'k-shell', texts({ 1: 'strike' }), texts({ 5: 'sparks' })),
  ]
  const split = bytesField(18, idOf(Buffer.from('Temper it in a split prompt')))
  const turn = (prompt: Buffer, all: readonly Buffer[]) =>
    store.blob(
      bytesField(1, Buffer.concat([bytesField(1, idOf(prompt)), ...all.map((step) => bytesField(2, idOf(step)))])),
    )
  const turns = [
    turn(bytesField(1, Buffer.from('Anneal the cleaver')), steps),
    turn(split, [textStep('Tempered twice.')]),
  ]
  const timing = (seconds: number) =>
    bytesField(14, Buffer.concat([numberField(1, 5000), numberField(2, stateAt(seconds))]))
  const beside = [
    timing(0),
    timing(60),
    bytesField(16, Buffer.concat([texts({ 1: 'era-cli-child' }), bytesField(2, texts({ 5: 'm' }))])),
    bytesField(32, texts({ 3: 'A blade that holds' })),
    ...more,
  ]
  return store.blob(Buffer.concat([encodeState({ entries: [], turns }), ...beside]))
}

const mapEntry = (name: string, text: string): Buffer =>
  bytesField(2, Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, bytesField(3, Buffer.from(text)))]))

const eraState: CliEra = {
  name: 'turns with times, calls with results, and a goal',
  chatId: 'era-cli-state',
  title: 'Blade',
  rootUri: `file://${cliRoot}`,
  messages: [
    { ...told('user', 'Anneal the cleaver'), atMs: stateAt(0) },
    told('assistant', null, ['create_plan', null]),
    told('assistant', null, ['scales.weigh', 'nine pounds']),
    told('assistant', null, ['ask_question', 'rapeseed']),
    told('assistant', null, ['edit', null]),
    told('assistant', null, ['shell', 'sparks']),
    { ...told('user', 'Temper it in a split prompt'), atMs: stateAt(60) },
    told('assistant', 'Tempered twice.'),
  ],
  write(home) {
    const store = new CliStore(cliFolder(home, cliRoot, 'era-cli-state'))
    store.facts({ ...facts('era-cli-state', writeState(store)), name: 'Blade' })
    store.sidecar({ schemaVersion: 1, cwd: cliRoot })
    store.close()
  },
}

interface Written extends Omit<CliEra, 'write'> {
  readonly chatId: string
  /** A folder of Cursor's home; by default that of the chats which began in `cliRoot`. */
  readonly folder?: string
  readonly entries: readonly unknown[]
  /** The message of a branch that was abandoned when a prompt was reverted. */
  readonly left?: unknown
  /** The messages that the second entry, a summary, replaced. */
  readonly archived?: readonly unknown[]
  readonly turns?: readonly {
    readonly prompt: string
    readonly atMs: number
    readonly steps: readonly { readonly text?: string; readonly shell?: string; readonly atMs: number }[]
  }[]
  readonly sidecar: object
}

function writeEra(home: string, { chatId, folder, left, archived, ...era }: Written): void {
  const store = new CliStore(folder === undefined ? cliFolder(home, cliRoot, chatId) : join(home, folder, chatId))
  const idOf = (message: unknown): string => store.blob(message)
  const entries = era.entries.map(idOf)
  if (left !== undefined) store.blob(encodeState({ entries: [...entries.slice(0, 4), idOf(left)] }))
  const archives = archived === undefined ? [] : [store.blob(encodeArchive(archived.map(idOf), entries[1]))]
  const turns = (era.turns ?? []).map(({ steps, ...turn }) => {
    const stepOf = ({ text, shell = '', atMs }: (typeof steps)[number]): Buffer =>
      text === undefined ? shellStep(shell, '', atMs) : textStep(text, atMs)
    return writeTurn(store, { ...turn, steps: steps.map(stepOf) })
  })
  store.facts(facts(chatId, store.blob(encodeState({ entries, archives, turns, oldTurns: turns }))))
  store.sidecar(era.sidecar)
  store.close()
}

const written = (readJson(import.meta.url, 'cli-store.json') as Written[]).map((era): CliEra => ({
  ...era,
  write: (home) => writeEra(home, era),
}))

export const cliEras: readonly CliEra[] = [...written, eraTree, eraTurns, eraState, eraSilent]
