import { asChatId, asMessageId, asProjectId } from '../../../src/model/ids.ts'
import type { Part } from '../../../src/model/part.ts'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import { exporters, type ExportFormat } from '../../../src/api/export/formats.ts'

/** A chat as a file, without masking. */
export function fileOf(as: ExportFormat, chat: Chat, messages: readonly Message[]): string {
  return [...exporters[as].write(chat, messages, { version: '1', exportedAt: null })].join('')
}

export const plainChat: Chat = {
  id: asChatId('c1'),
  title: 'Fix the login',
  titleSource: 'cursor',
  summary: null,
  project: { id: asProjectId('p1'), name: 'shop' },
  projectSource: 'workspace',
  createdAt: '2026-02-19T20:30:00.000Z',
  lastActivityAt: '2026-02-19T21:30:05.250Z',
  mode: 'agent',
  branch: null,
  worktree: null,
  model: 'gpt-5',
  models: ['gpt-5', 'sonnet'],
  modelSource: 'cursor',
  messageCount: 1234,
  userMessageCount: 600,
  toolCallCount: 7,
  sizeBytes: 1,
  format: 'split',
  source: 'some-store',
  origin: null,
  status: null,
  isArchived: true,
  isSubagent: false,
  parentChatId: null,
  childChatIds: [],
  deletedInCursor: false,
  deletedAt: null,
  linesAdded: 10,
  linesRemoved: 2,
  filesChanged: 1,
  contextTokens: null,
  recordedCostCents: null,
  machine: null,
  isListedOnly: false,
  running: false,
}

export function messageOf(id: string, parts: readonly Part[], more: Partial<Message> = {}): Message {
  return {
    id: asMessageId(id),
    chatId: plainChat.id,
    position: 0,
    role: 'assistant',
    createdAt: '2026-02-19T20:30:00.000Z',
    createdAtSource: 'message',
    model: null,
    tokens: null,
    parts,
    isOrphan: false,
    isSimulated: false,
    deletedInCursor: false,
    isIndexCapped: false,
    source: 'some-store',
    ...more,
  }
}

/** What a chat may hold that is markup, an order to a terminal, or a trick on the eye. */
export const hostileTexts: readonly string[] = [
  '<script>window.pwned = 1</script>',
  '</pre></details></article><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '</style></title></textarea><base href=http://evil.example/>',
  '<!-- <![CDATA[ <?php',
  '&lt;b&gt; &#x3c;script&#x3e; &amp;',
  'javascript:alert(1) data:text/html,<b>',
  '```\n``````\n````html\n~~~\n```',
  '# not a heading\n---\n| a | b |\n|---|---|\n> q\n[x]: http://evil.example',
  '\u0000\u001b]52;c;cm0gLXJm\u0007\u001b[2J\b\u007f\u009b2J\r',
  'user\u202enimda\u202c \u2066x\u2069 \u200e\u200f\u061c',
  'half \ud83d and other half \ude00',
  'ä 漢字 ไทย עברית 👩‍👩‍👧',
]

/** Each of them in every place of every kind of part. */
export const hostileParts: readonly Part[] = hostileTexts.flatMap((text): Part[] => [
  { kind: 'text', text },
  { kind: 'thinking', text, durationMs: 61_000 },
  { kind: 'code', language: text, path: text, text },
  {
    kind: 'tool',
    name: text,
    status: 'error',
    callId: text,
    input: { [text]: [text] },
    output: text,
    error: text,
    paths: [text, text],
  },
  { kind: 'attachment', path: text, text },
  { kind: 'attachment', path: text, text: null },
  { kind: 'todo', items: [{ id: text, content: text, status: text }] },
  { kind: 'error', text },
])

const everything = hostileTexts.join(' ')

export const hostileChat: Chat = {
  ...plainChat,
  id: asChatId(everything),
  title: everything,
  project: { id: asProjectId('p1'), name: everything },
  mode: everything,
  models: [everything],
}

export const hostileMessages: readonly Message[] = [
  messageOf(everything, hostileParts, { model: everything, createdAtSource: 'neighbour' }),
  messageOf('second', [{ kind: 'text', text: 'The end, unharmed.' }], { position: 1, role: 'user' }),
  messageOf(`${everything} orphan`, hostileParts.slice(0, 8), { position: null, isOrphan: true, createdAt: null }),
]

/** A text as a page shows it: without its markup, with what it could not show as it is. */
export const shown = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/[^\P{Cc}\t\n]/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)
    .replace(/[\p{Bidi_Control}\p{Surrogate}]/gu, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** What a browser makes of the entities of a page. */
export const unescaped = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39);/gu, (entity, name: string) => signs[name] ?? entity)
