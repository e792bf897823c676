import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Role } from '../../../src/model/message.ts'

export interface TranscriptMessage {
  readonly role: Role
  /** Its first text; null if it has only calls or errors. */
  readonly text: string | null
  readonly sentAtMs: number | null
  /** Names of its tool calls. */
  readonly tools: readonly string[]
}

/** A format in which Cursor stored a transcript, and the expected result. */
export interface TranscriptEra {
  readonly name: string
  /** Name of the project's folder in `projects`. */
  readonly slug: string
  /** Path relative to the folder of transcripts. */
  readonly file: string
  /** Null if the file contains no chat. */
  readonly chatId: string | null
  readonly parentChatId: string | null
  /** Normalised; null if nothing names it. */
  readonly rootUri: string | null
  readonly messages: readonly TranscriptMessage[]
  /** Writes it into one of Cursor's home folders, replacing a former one. */
  write(home: string): void
}

interface Left extends Partial<Omit<TranscriptEra, 'write'>> {
  readonly name: string
  readonly file: string
  readonly content: string
}

/** The root that the project's own file names. */
const trustedPath = '/yard/kiln'

const eraOf = ({ content, ...told }: Left): TranscriptEra => {
  const slug = told.slug ?? 'yard-kiln'
  const isTrusted = slug === 'yard-kiln'
  return {
    chatId: null,
    parentChatId: null,
    messages: [],
    slug,
    rootUri: isTrusted ? `file://${trustedPath}` : null,
    ...told,
    write: (home) => {
      writeTranscript(home, slug, told.file, content)
      if (isTrusted) trust(home, slug, trustedPath)
    },
  }
}

/** @param file path relative to the folder of transcripts */
export function writeTranscript(home: string, slug: string, file: string, content: string | Uint8Array): string {
  const path = join(home, 'projects', slug, 'agent-transcripts', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** Writes the file that names a project's root. */
export function trust(home: string, slug: string, workspacePath: string): void {
  mkdirSync(join(home, 'projects', slug), { recursive: true })
  const told = { trustedAt: '2026-06-02T03:20:00.000Z', workspacePath, trustMethod: 'user' }
  writeFileSync(join(home, 'projects', slug, '.workspace-trusted'), JSON.stringify(told))
}

export const lines = (...records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

export const line = (role: Role, ...content: readonly unknown[]) => ({ role, message: { content } })
export const said = (text: string) => ({ type: 'text', text })
export const call = (name: string, input: unknown) => ({ type: 'tool_use', name, input })
export const query = (text: string): string => `<user_query>\n${text}\n</user_query>`

const message = (role: Role, text: string | null, more: Partial<TranscriptMessage> = {}): TranscriptMessage => ({
  role,
  text,
  sentAtMs: null,
  tools: [],
  ...more,
})

export const eraText = eraOf({
  name: 'the old text form',
  file: 'era-text.txt',
  chatId: 'era-text',
  content: `user:
<user_query>
Which glaze ran?

assistant:
is only a word here
</user_query>

assistant:
[Thinking] The log will tell.
  It is short.
I look at the log.
[Tool call] Read
  path=/yard/kiln/log.csv
  limit=20

[Tool result] Read

assistant:
The celadon on shelf 3.

user:
<user_query>
Thanks
</user_query>
`,
  messages: [
    message('user', 'Which glaze ran?\n\nassistant:\nis only a word here'),
    message('assistant', 'I look at the log.', { tools: ['Read'] }),
    message('assistant', 'The celadon on shelf 3.'),
    message('user', 'Thanks'),
  ],
})

export const eraTextArguments = eraOf({
  name: 'the old text form with arguments of many lines',
  file: 'era-arguments.txt',
  chatId: 'era-arguments',
  content: `user:
<user_query>
Write the firing plan
</user_query>

user:
<external_links>
### Cones
</external_links>

<agent_skills>
Fire slowly.
</agent_skills>

user:
<external_links>
### Cones
</external_links>
<user_query>
With a picture
</user_query>

assistant:
I write it.
[Tool call] Write
  path=/yard/kiln/plan.md
  contents=# Firing

\`\`\`ini
[ramp]
rate = 60
hold=20

user:
  name: potter
  merge=true

[Tool call] ApplyPatch*** Begin Patch
*** Update File: /yard/kiln/log.csv
@@
-3,celadon
+3,tenmoku
*** End Patch

[Tool call] Shellls -l

[Tool result] Write

[Tool result] ApplyPatch

[Tool result] Shell

user:
<user_query>
And the cones?
</user_query>

assistant:
<think>
Which of them?
</think>

Cone 6.
`,
  messages: [
    message('user', 'Write the firing plan'),
    message('user', 'With a picture'),
    message('assistant', 'I write it.', { tools: ['Write', 'ApplyPatch', 'Shell'] }),
    message('user', 'And the cones?'),
    message('assistant', 'Cone 6.'),
  ],
})

const recordsOfTwin = [
  { role: 'user', text: query('Order the clay') },
  {
    role: 'assistant',
    text: '<think>How much?</think>I order.',
    toolCalls: [
      { toolName: 'Shell', args: { command: 'order clay' } },
      { toolName: 'Write', args: { path: '/yard/kiln/order.md', contents: 'clay\n\nuser:\nlater\n\nassistant:\nyes' } },
    ],
  },
  { role: 'tool', toolResult: { toolName: 'Shell' } },
  { role: 'tool', toolResult: { toolName: 'Write' } },
  { role: 'assistant', text: 'Twenty bags.' },
]

export const eraRecords = eraOf({
  name: 'one JSON list, beside the old form of the same chat',
  file: 'era-records.json',
  chatId: 'era-records',
  content: JSON.stringify(recordsOfTwin, null, 2),
  messages: [
    message('user', 'Order the clay'),
    message('assistant', 'I order.', { tools: ['Shell', 'Write'] }),
    message('assistant', 'Twenty bags.'),
  ],
})

/** Its quotes look like messages, so it seems to contain more messages than it does. */
export const eraTwin = eraOf({
  name: 'the old form of the chat that a JSON list holds too',
  file: 'era-records.txt',
  content: `user:
<user_query>
Order the clay
</user_query>

assistant:
<think>How much?</think>I order.
[Tool call] Shell
  command=order clay

[Tool call] Write
  path=/yard/kiln/order.md
  contents=clay

user:
later

assistant:
yes

[Tool result] Shell

[Tool result] Write

assistant:
Twenty bags.
`,
})

export const eraFlat = eraOf({
  name: 'JSON lines beside the old form, by the command line',
  file: 'era-flat.jsonl',
  chatId: 'era-flat',
  content: lines(
    line('user', said(`<timestamp>Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)</timestamp>\n${query('Count the shelves')}`)),
    line('assistant', said('I count.'), call('Shell', { command: 'wc -l log.csv', working_directory: '/yard/kiln' })),
    line('assistant', said('Seven.\n\n[REDACTED]')),
    { type: 'turn_ended', status: 'success' },
  ),
  messages: [
    message('user', 'Count the shelves', { sentAtMs: Date.UTC(2026, 5, 2, 3, 20) }),
    message('assistant', 'I count.', { tools: ['Shell'] }),
    message('assistant', 'Seven.\n\n[REDACTED]'),
  ],
})

export const eraMisnamed = eraOf({
  name: 'JSON lines under the old name',
  file: 'era-misnamed.txt',
  chatId: 'era-misnamed',
  content: lines(
    { role: 'user', message: { content: query('Plain content') } },
    line('assistant', said('Understood.')),
  ),
  messages: [message('user', 'Plain content'), message('assistant', 'Understood.')],
})

export const eraNested = eraOf({
  name: 'JSON lines in a folder of their own, by the editor',
  file: 'era-nested/era-nested.jsonl',
  chatId: 'era-nested',
  content: lines(
    line('user', said(query('Have the cones checked'))),
    line('assistant', call('Subagent', { description: 'Check the cones', prompt: 'Look at every cone.' })),
    { type: 'error', error: 'Connection lost' },
    { type: 'turn_ended', status: 'error', error: 'Connection lost' },
  ),
  messages: [
    message('user', 'Have the cones checked'),
    message('assistant', null, { tools: ['Subagent'] }),
    message('assistant', null),
  ],
})

export const eraSubagent = eraOf({
  name: 'a subagent, in the folder of the chat that sent it',
  file: 'era-nested/subagents/era-subagent.jsonl',
  chatId: 'era-subagent',
  parentChatId: 'era-nested',
  content: lines(line('user', said(query('Look at every cone.'))), line('assistant', said('Cone 6 is bent.'))),
  messages: [message('user', 'Look at every cone.'), message('assistant', 'Cone 6 is bent.')],
})

export const eraSubagentText = eraOf({
  name: 'a subagent in the old text form',
  file: 'era-nested/subagents/era-sub-text.txt',
  chatId: 'era-sub-text',
  parentChatId: 'era-nested',
  content: `user:\n${query('Count the cones.')}\n\nassistant:\nThere are nine.\n`,
  messages: [message('user', 'Count the cones.'), message('assistant', 'There are nine.')],
})

export const eraSubagentRecords = eraOf({
  name: 'a subagent as a JSON list',
  file: 'era-nested/subagents/era-sub-records.json',
  chatId: 'era-sub-records',
  parentChatId: 'era-nested',
  content: JSON.stringify([
    { role: 'user', text: query('Weigh the cones.') },
    { role: 'assistant', text: 'Two grams each.' },
  ]),
  messages: [message('user', 'Weigh the cones.'), message('assistant', 'Two grams each.')],
})

export const eraControl = eraOf({
  name: 'a file that only tells how turns ended',
  file: 'era-control/era-control.jsonl',
  content: lines({ type: 'turn_ended', status: 'success' }, { type: 'turn_ended', status: 'aborted' }),
})

export const eraTorn = eraOf({
  name: 'a file that is being written',
  file: 'era-torn.jsonl',
  chatId: 'era-torn',
  content: `${lines(line('user', said(query('Still there?'))))}{"role":"assistant","message":{"content":[{"ty`,
  messages: [message('user', 'Still there?')],
})

export const eraWindow = eraOf({
  name: 'a window without a folder',
  slug: 'empty-window',
  file: 'era-window/era-window.jsonl',
  chatId: 'era-window',
  content: lines(line('user', said(query('What is a bisque?'))), line('assistant', said('A first firing.'))),
  messages: [message('user', 'What is a bisque?'), message('assistant', 'A first firing.')],
})

export const eraMoved = eraOf({
  name: 'a chat whose window changed its folder',
  file: 'era-moved/era-moved.jsonl',
  chatId: 'era-moved',
  content: lines(
    line('user', said(query('Load the kiln'))),
    line('assistant', said('The lower shelf is full.')),
    line('user', said(query('Close the door'))),
    line('assistant', said('It is bolted.')),
    line('user', said(query('Light the burner'))),
  ),
  messages: [
    message('user', 'Load the kiln'),
    message('assistant', 'Nine bowls fit.'),
    message('assistant', 'The lower shelf is full.'),
    message('user', 'Close the door'),
    message('assistant', null, { tools: ['Shell'] }),
    message('assistant', 'It is bolted.'),
    message('user', 'Light the burner'),
  ],
})

/** Each folder has messages that the other one lacks. */
export const eraMovedFrom = eraOf({
  name: 'the same chat, from before it had a folder',
  slug: 'empty-window',
  file: 'era-moved/era-moved.jsonl',
  content: lines(
    line('user', said(query('Load the kiln'))),
    line('assistant', said('Nine bowls fit.')),
    line('user', said(query('Close the door'))),
    line('assistant', call('Shell', { command: 'bolt --both-sides' })),
  ),
})

export const transcriptEras = [
  eraText,
  eraTextArguments,
  eraRecords,
  eraTwin,
  eraFlat,
  eraMisnamed,
  eraNested,
  eraSubagent,
  eraSubagentText,
  eraSubagentRecords,
  eraControl,
  eraTorn,
  eraWindow,
  eraMoved,
  eraMovedFrom,
] as const
