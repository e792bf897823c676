import { Chance } from './chance.ts'
import { chatRow, projectOf } from './chat-row.ts'
import type { ChatPlan } from './chat-row.ts'
import { liveThread } from './live-threads.ts'
import type { Store } from './cursor-home.ts'
import { callIdOf, messageRow } from './message-row.ts'
import type { MessagePlan, Row } from './message-row.ts'
import { say } from './script.ts'
import type { Step, Thread } from './script.ts'
import { loadingToolData } from './tool-data.ts'

/** One commit of a running agent, and the time since the former one. */
export interface Move {
  readonly afterMs: number
  readonly write: (store: Store, nowMs: number) => void
}

/** How often a streamed answer is written before it is complete. */
const REWRITES = 10

/** The endless writes of a working agent: one chat after another, at a realistic speed. */
export function* liveMoves(seed: string): Generator<Move, never> {
  const chance = new Chance(seed)
  for (let number = 1; ; number += 1) {
    const chat = new LiveChat(liveThread(number, chance), chance)
    for (const [index, step] of chat.thread.steps.entries()) {
      const afterMs = number === 1 && index === 0 ? 500 : chance.between(2000, 4000)
      yield* chat.play(step, afterMs)
    }
  }
}

class LiveChat {
  readonly thread: Thread
  readonly #chance: Chance
  readonly #id: string
  #messages: readonly MessagePlan[] = []
  #createdAtMs = 0

  constructor(thread: Thread, chance: Chance) {
    this.thread = thread
    this.#chance = chance
    this.#id = chance.uuid()
  }

  *play(step: Step, afterMs: number): Generator<Move, void> {
    const id = this.#chance.uuid()
    const isLast = step === this.thread.steps.at(-1)
    if (step.kind === 'say') yield* this.#stream(id, step.text, afterMs, isLast)
    else if (step.kind === 'tool') {
      yield this.#move(id, step, afterMs, (row) => ({
        ...row,
        toolFormerData: loadingToolData(step, 'new', callIdOf(id)),
      }))
      yield this.#move(id, step, this.#chance.between(400, 1500))
    } else yield this.#move(id, step, afterMs)
  }

  /** An answer arrives in pieces, and the row is rewritten with each. */
  *#stream(id: string, text: string, afterMs: number, isLast: boolean): Generator<Move, void> {
    const words = text.split(/(?<=\s)/)
    for (let turn = 1; turn <= REWRITES; turn += 1) {
      const part = words.slice(0, Math.ceil((words.length * turn) / REWRITES)).join('')
      const pauseMs = turn === 1 ? afterMs : this.#chance.between(115, 215)
      yield this.#move(id, say(part), pauseMs, undefined, isLast && turn === REWRITES)
    }
  }

  #move(id: string, step: Step, afterMs: number, change = (row: Row): Row => row, isDone = false): Move {
    return {
      afterMs,
      write: (store, nowMs) => {
        const known = this.#messages.find((message) => message.id === id)
        const message = this.#plan(id, step, known?.atMs ?? nowMs)
        this.#messages = [...this.#messages.filter((each) => each !== known), message]
        if (this.#createdAtMs === 0) this.#createdAtMs = nowMs
        store.db.transaction(() => {
          store.put(`bubbleId:${this.#id}:${id}`, change(messageRow(message)))
          store.put(`composerData:${this.#id}`, chatRow(this.#chat(isDone)))
        })()
      },
    }
  }

  #plan(id: string, step: Step, atMs: number): MessagePlan {
    const project = projectOf(this.thread)
    return { id, step, atMs, build: 'new', model: 'claude-4.5-sonnet', project, tokens: null, windowMs: 0 }
  }

  #chat(isDone: boolean): ChatPlan {
    return {
      id: this.#id,
      shape: 'split',
      thread: this.thread,
      version: 18,
      model: 'claude-4.5-sonnet',
      createdAtMs: this.#createdAtMs,
      messages: this.#messages,
      orphans: [],
      isArchived: false,
      isDeleted: false,
      emptiedId: null,
      parentId: null,
      recordedCents: null,
      isNamed: this.#messages.length > 2,
      isRunning: !isDone,
    }
  }
}
