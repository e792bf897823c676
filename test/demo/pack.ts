import { readFileSync } from 'node:fs'
import { Chance } from '../helpers/cursor/chance.ts'
import type { Step, Thread } from '../helpers/cursor/steps.ts'
import { loadingToolData } from '../helpers/cursor/tool-data.ts'
import { PACKED_AT_MS, PACKED_FOLDER } from '../../src/demo/packed.ts'
import type { Change, PackedCommit, PackedHome, PackedScript } from '../../src/demo/packed.ts'
import { callIdOf, chatRow, messageRow, type ChatPlan, type DemoProject, type MessagePlan } from './rows.ts'

/** A line of `dialogues.jsonl`. */
interface Dialogue extends Thread {
  /** Live ones are written by the agent while the demo runs; the others are there at its start. */
  readonly part: 'chat' | 'subagent' | 'repository' | 'live'
  /** By default the chats are spread over a year. */
  readonly ageDays?: number
  /**
   * `lost` and `losing`: the chat, or its third message, is deleted while the demo runs. `deleted`: before its start, and the
   * messages stayed. `regenerated`: its last answer replaced another one.
   */
  readonly fate?: 'lost' | 'losing' | 'deleted' | 'regenerated'
  /** Made some minutes after the chat. */
  readonly commit?: Omit<PackedCommit, 'atMs'>
  /** Words that take turns in live chats, by the placeholders that stand for them. */
  readonly words?: Readonly<Record<string, readonly string[]>>
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const YEAR_DAYS = 350
/** Older chats are those of old builds: with other tools, and with recorded tokens. */
const OLD_DAYS = 165
/** Enough for half an hour. */
const LIVE_CHATS = 48
/** How often a streamed answer is written before it is complete. */
const REWRITES = 10

const oldModels = ['claude-3.5-sonnet', 'gpt-4o', 'claude-3.7-sonnet', null] as const
const newModels = ['claude-4.5-sonnet', 'gpt-5.1-codex', 'composer-1', 'gemini-3-pro', null] as const

const chance = new Chance('demo')
const subagent = { id: chance.uuid(), parentId: chance.uuid() }

const dialogues = readFileSync(new URL('dialogues.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line.replaceAll('"CHILD"', JSON.stringify(subagent.id))) as Dialogue)
const partOf = (part: Dialogue['part']): Dialogue[] => dialogues.filter((dialogue) => dialogue.part === part)

const project = (uri: string): DemoProject => ({
  workspaceId: chance.hex(32),
  uri,
  path: uri.replace(/^[\w-]+:\/\/[^/]*/, ''),
})

/** One over SSH, one with several roots, and one that is really there. */
const projects: Readonly<Record<string, DemoProject>> = {
  shop: project('file:///home/ada/code/shop'),
  'ledger-api': project('file:///home/ada/code/ledger-api'),
  'fleet-gateway': project('vscode-remote://ssh-remote%2Bbuild-01/srv/fleet-gateway'),
  atlas: project('file:///home/ada/code/atlas/atlas.code-workspace'),
  thermostat: project('file:///home/ada/code/thermostat'),
  'field-notes': project('file:///home/ada/code/field-notes'),
}
const repository: DemoProject = { ...project(`${PACKED_FOLDER}/tide-tables`), path: '' }

interface Planned extends ChatPlan {
  readonly dialogue: Dialogue
}

/** The chats at the start, oldest first: few from a year ago, many recent ones. */
function planYear(): readonly Planned[] {
  const queue = chance.shuffled(partOf('chat'))
  const plans = queue.map((dialogue, index) => {
    const ageDays = dialogue.ageDays ?? YEAR_DAYS * (1 - index / (queue.length - 1)) ** 1.25
    const hasTask = dialogue.steps.some(({ kind }) => kind === 'task')
    return planChat(dialogue, startOf(ageDays), hasTask ? { id: subagent.parentId } : {})
  })
  const parent = plans.find(({ id }) => id === subagent.parentId)
  const children = partOf('subagent').map((dialogue) =>
    planChat(dialogue, (parent?.createdAtMs ?? 0) + 60_000, subagent),
  )
  return [...plans, ...children].toSorted((one, other) => one.createdAtMs - other.createdAtMs)
}

/** A time on a working day between 9:00 and 17:30. Chats of the last two days are some hours old. */
function startOf(ageDays: number): number {
  const roughMs = PACKED_AT_MS - ageDays * DAY_MS
  if (ageDays < 2) return Math.floor(roughMs - (2 + chance.next()) * HOUR_MS)
  const weekday = new Date(roughMs).getUTCDay()
  const weekend = weekday === 6 ? DAY_MS : weekday === 0 ? 2 * DAY_MS : 0
  const midnightMs = Math.floor((roughMs - weekend) / DAY_MS) * DAY_MS
  return midnightMs + chance.between(9 * 60, 17 * 60 + 30) * 60_000 + chance.between(0, 59_999)
}

function planChat(dialogue: Dialogue, createdAtMs: number, kin: Partial<ChatPlan> = {}): Planned {
  const build = PACKED_AT_MS - createdAtMs > OLD_DAYS * DAY_MS ? 'old' : 'new'
  const hasTokens = build === 'old' && chance.next() < 0.7
  let atMs = createdAtMs
  const messages = dialogue.steps.map((step, index): MessagePlan => {
    atMs += pauseMs(step, index)
    const isLast = step.kind === 'say' && (dialogue.steps[index + 1]?.kind ?? 'user') === 'user'
    // The prompt grows with the chat, because the whole chat is sent each time.
    const tokens = { input: 2800 + index * chance.between(400, 1600), output: chance.between(120, 1500) }
    return { id: chance.uuid(), step, atMs, tokens: hasTokens && isLast ? tokens : null }
  })
  return {
    id: chance.uuid(),
    dialogue,
    thread: dialogue,
    project: projects[dialogue.project ?? ''] ?? null,
    build,
    model: chance.pick(build === 'old' ? oldModels : newModels),
    createdAtMs,
    messages,
    parentId: null,
    // A window also lists a chat whose row is gone.
    isListed: build === 'old' || dialogue.fate === 'deleted' || dialogue.project === 'atlas',
    isArchived: chance.next() < 0.12,
    isRunning: false,
    ...kin,
  }
}

function pauseMs(step: Step, index: number): number {
  if (index === 0) return chance.between(200, 900)
  if (step.kind === 'user') return chance.between(30_000, 400_000)
  return step.kind === 'think' ? step.seconds * 1000 : chance.between(1500, 45_000)
}

const chatKey = ({ id }: ChatPlan): string => `composerData:${id}`
const messageKey = (chat: ChatPlan, { id }: MessagePlan): string => `bubbleId:${chat.id}:${id}`
const put = (key: string, row: unknown): Change => [key, JSON.stringify(row)]

function rowsOf(plan: Planned): Change[] {
  const { messages, dialogue } = plan
  const last = messages.at(-1)
  const text = 'The simplest thing first: clear the cache and start again. If it is still there, we look further.'
  const orphans =
    dialogue.fate === 'regenerated' && last !== undefined
      ? [{ ...last, id: chance.uuid(), step: { kind: 'say', text }, tokens: null } as const]
      : []
  return [
    dialogue.fate === 'deleted' ? [chatKey(plan), null] : put(chatKey(plan), chatRow(plan)),
    ...[...messages, ...orphans].map((message) => put(messageKey(plan, message), messageRow(message, plan))),
  ]
}

/** What the agent deletes: a chat with its messages, and a message that its chat still names. */
function lossesOf(plan: Planned): Change[] {
  const { fate } = plan.dialogue
  const [, , third] = plan.messages
  if (fate === 'losing' && third !== undefined) return [[messageKey(plan, third)], put(chatKey(plan), chatRow(plan))]
  if (fate !== 'lost') return []
  return [[chatKey(plan), null], ...plan.messages.map((message): Change => [messageKey(plan, message)])]
}

/** All moves of the agent: one chat after another, at a realistic speed. */
function packMoves(): PackedScript['moves'] {
  const live = partOf('live')
  let nowMs = PACKED_AT_MS
  const moves: { afterMs: number; rows: Change[] }[] = []
  for (let number = 0; number < LIVE_CHATS; number += 1) {
    const template = live[number % live.length] as Dialogue
    let text = JSON.stringify(template).replaceAll('TICKET', String(2001 + number))
    for (const [placeholder, words] of Object.entries(template.words ?? {}))
      text = text.replaceAll(placeholder, words[Math.floor(number / live.length) % words.length] ?? '')
    const plan = { ...planChat(JSON.parse(text) as Dialogue, nowMs), isArchived: false, model: 'claude-4.5-sonnet' }
    const done: MessagePlan[] = []
    for (const { step, id } of plan.messages) {
      const message = { id, step, atMs: 0, tokens: null }
      const isLast = step === plan.thread.steps.at(-1)
      const write = (
        afterMs: number,
        written: Step,
        toolFormerData?: Record<string, unknown>,
        isRunning = true,
      ): void => {
        nowMs += afterMs
        if (message.atMs === 0) message.atMs = nowMs
        const chat = { ...plan, messages: [...done, { ...message }], isRunning }
        const row = messageRow({ ...message, step: written }, chat, toolFormerData)
        moves.push({ afterMs, rows: [put(messageKey(chat, message), row), put(chatKey(chat), chatRow(chat))] })
      }
      const pause = moves.length === 0 ? 500 : chance.between(2000, 4000)
      if (step.kind === 'say') {
        // An answer arrives in pieces, and the row is rewritten with each.
        const words = step.text.split(/(?<=\s)/)
        for (let turn = 1; turn <= REWRITES; turn += 1) {
          const part = words.slice(0, Math.ceil((words.length * turn) / REWRITES)).join('')
          const isRunning = !(isLast && turn === REWRITES)
          write(turn === 1 ? pause : chance.between(115, 215), { kind: 'say', text: part }, undefined, isRunning)
        }
      } else if (step.kind === 'tool') {
        write(pause, step, loadingToolData(step, 'new', callIdOf(id)))
        write(chance.between(400, 1500), step)
      } else write(pause, step)
      done.push({ ...message })
    }
  }
  return moves
}

function packDemo(): { readonly home: PackedHome; readonly script: PackedScript } {
  const year = planYear()
  const works = partOf('repository').map((dialogue) => {
    const plan = planChat(dialogue, PACKED_AT_MS - (dialogue.ageDays ?? 0) * DAY_MS, {
      project: repository,
      isListed: true,
    })
    return { ...plan, isArchived: false }
  })
  const commits = works.flatMap(({ dialogue, messages, createdAtMs }) =>
    dialogue.commit === undefined ? [] : { atMs: (messages.at(-1)?.atMs ?? createdAtMs) + 180_000, ...dialogue.commit },
  )
  const chats = [...year, ...works.filter(({ messages }) => messages.length > 0)]
  const windows = [...Object.values(projects), repository].map((own) => {
    const listed = chats.filter((plan) => plan.project === own && plan.isListed)
    const allComposers = listed.map(({ id }) => ({ type: 'head', composerId: id }))
    return {
      path: `workspaceStorage/${own.workspaceId}/state.vscdb`,
      table: 'ItemTable' as const,
      rows: [put('composer.composerData', { allComposers })],
    }
  })
  const files = [...Object.values(projects), repository].map(({ workspaceId, uri }): [string, string] => {
    const kind = uri.endsWith('.code-workspace') ? 'workspace' : 'folder'
    return [`workspaceStorage/${workspaceId}/workspace.json`, JSON.stringify({ [kind]: uri })]
  })
  const all = { path: 'globalStorage/state.vscdb', table: 'cursorDiskKV' as const, rows: chats.flatMap(rowsOf) }
  return {
    home: { files: Object.fromEntries(files), stores: [all, ...windows], commits },
    script: { moves: packMoves(), losses: chats.flatMap(lossesOf) },
  }
}

/** The demo's Cursor and its agent's work. The same sources give the same demo. */
export const demo = packDemo()
