import type { Writer } from '../helpers/shapes/writer.ts'
import type { Chance } from '../helpers/cursor.ts'

const CHATS = 6
const MESSAGES = 8

/** Changes a store as Cursor, its users and cleanup tools do, and as an adversary would. */
export class RandomWriter {
  readonly #writer: Writer
  readonly #chance: Chance
  #words = 0

  constructor(writer: Writer, chance: Chance) {
    this.#writer = writer
    this.#chance = chance
  }

  step(): void {
    const roll = this.#chance.next()
    const writer = this.#writer
    const [chat, id] = [this.#chat(), this.#message()]
    if (roll < 0.3) writer.insert(chat, id, this.#word())
    else if (roll < 0.4) writer.upsert(chat, id, this.#word())
    else if (roll < 0.55) writer.update(chat, id, this.#word())
    else if (roll < 0.65) writer.delete(chat, id)
    else if (roll < 0.73) writer.list(chat, this.#ids())
    else if (roll < 0.78) this.#reuse(chat, id)
    else if (roll < 0.82) this.#rename(chat, id)
    else if (roll < 0.86) this.#burst(chat)
    else if (roll < 0.89) writer.deleteChat(chat)
    else if (roll < 0.91) writer.tombstone(chat)
    else if (roll < 0.94) writer.vacuum()
    else if (roll < 0.96) writer.renumber()
    else if (roll < 0.98) this.#remakeTable()
    else this.#replaceFile()
  }

  /** Deletes the newest row, and another row reuses its rowid. */
  #reuse(chat: string, id: string): void {
    this.#writer.insert(chat, id, this.#word())
    this.#writer.delete(chat, id)
    this.#writer.insert(this.#chat(), this.#message(), this.#word())
  }

  #rename(chat: string, id: string): void {
    const [toChat, toId] = [this.#chat(), this.#message()]
    this.#writer.delete(toChat, toId)
    this.#writer.rename(chat, id, toChat, toId)
  }

  #burst(chat: string): void {
    this.#writer.atOnce(() => {
      for (let at = 1; at <= MESSAGES; at += 1) this.#writer.insert(chat, `m${at}`, this.#word())
      this.#writer.list(chat, this.#ids())
    })
  }

  #remakeTable(): void {
    this.#writer.atOnce(() => {
      this.#writer.dropTable()
      this.#writer.createTable()
      this.#fill(this.#writer)
    })
  }

  #replaceFile(): void {
    this.#writer.replaceFile((other) => this.#fill(other))
  }

  #fill(writer: Writer): void {
    for (let count = this.#chance.between(0, 3); count >= 0; count -= 1) {
      const ids = this.#ids()
      writer.chat(this.#chat(), Object.fromEntries(ids.map((id) => [id, this.#word()])))
    }
  }

  #chat(): string {
    return `chat${this.#chance.between(1, CHATS)}`
  }

  #message(): string {
    return `m${this.#chance.between(1, MESSAGES)}`
  }

  #ids(): string[] {
    const count = this.#chance.between(0, MESSAGES)
    return Array.from({ length: count }, () => this.#message()).filter((id, at, all) => all.indexOf(id) === at)
  }

  /** All have the same length, so that a rewritten value need not differ in size. */
  #word(): string {
    this.#words += 1
    const digits = Array.from({ length: 5 }, (_, at) => Math.floor(this.#words / 26 ** (4 - at)) % 26)
    return `w${String.fromCharCode(...digits.map((digit) => 97 + digit))}`
  }
}
