import { headers, type Store } from './cursor.ts'
import { Workplace, type Ended, type RunOptions } from './spawn-cursordex.ts'

/** A unique word of letters for each secret. The words differ in their first letter. */
export const secretOf = (round: number): string => `zephyrian-${wordOf(round)}`
export const wordOf = (round: number): string => {
  const digits = String(round).padStart(3, '0').split('').toReversed()
  return `${digits.map((digit) => 'bcdfghjklm'.charAt(Number(digit))).join('')}quoll`
}

const at = (minute: number): string => new Date(Date.UTC(2026, 1, 1, 9) + minute * 60_000).toISOString()

/** A Cursor with this many chats. In each chat one message contains a secret of its own. */
export class PurgePlace {
  readonly place = new Workplace()
  readonly store: Store

  constructor(chats: number, filler = 20) {
    this.store = this.place.cursor.global()
    this.store.db.transaction(() => {
      for (let chat = 0; chat < chats; chat += 1) {
        const ids = Array.from({ length: filler }, (_, message) => `m${chat}-${message}`)
        this.store.chat(`chat-${chat}`, {
          name: `Talk ${chat}`,
          fullConversationHeadersOnly: headers([`s${chat}`, ...ids]),
        })
        this.writeSecret(chat)
        for (const [message, id] of ids.entries()) {
          const words = `word${chat}a${message} and more `.repeat(40)
          this.store.message(`chat-${chat}`, id, {
            type: 1 + (message % 2),
            text: words,
            createdAt: at(chat * 60 + message + 1),
          })
        }
      }
    })()
  }

  /** Writes the row again, as Cursor does when it returns to a message. */
  writeSecret(chat: number, more = ''): void {
    const text = `It is "${secretOf(chat)}".\nKeep it to yourself.${more}`
    this.store.message(`chat-${chat}`, `s${chat}`, { type: 1, text, createdAt: at(chat * 60) })
  }

  get dataDir(): string {
    return this.place.dataDir
  }

  run(argv: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return this.place.run(argv, options)
  }

  purgeSecret(chat: number, options: RunOptions = {}): Promise<Ended> {
    return this.run(['purge', '--match', '--yes', '--json'], { ...options, input: `${secretOf(chat)}\n` })
  }

  remove(): Promise<void> {
    return this.place.remove()
  }
}
