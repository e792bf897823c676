import { CursorHome } from '../../../src/sample/cursor-home.ts'
import { Chance } from '../../../src/sample/chance.ts'
import { Indexer } from '../../helpers/in-process.ts'
import type { CorpusChat } from './make-corpus.ts'
import { projectNames } from './planted.ts'
import { chatRow, messageRow } from './rows.ts'

/** Writes the chats into stores in Cursor's format. */
export function writeCorpus(home: CursorHome, chats: readonly CorpusChat[]): void {
  const store = home.global()
  store.db.transaction(() => {
    for (const chat of chats) {
      for (const each of chat.messages) store.message(chat.id, each.id, messageRow(each, chat.model))
      store.chat(chat.id, chatRow(chat))
    }
  })()
  for (const name of projectNames) {
    const mine = chats.filter(({ project }) => project === name).map(({ id }) => id)
    const folder = `file:///home/ada/code/${encodeURIComponent(name)}`
    home.workspace(new Chance(name).hex(32), { folder }, mine)
  }
  home.close()
}

/** Writes the chats into a store in Cursor's format, and indexes it with the real indexer. */
export function indexCorpus(chats: readonly CorpusChat[]): { readonly indexer: Indexer; readonly remove: () => void } {
  const home = new CursorHome()
  writeCorpus(home, chats)
  const indexer = new Indexer(home.userDir)
  indexer.pass('reconcile')
  const remove = (): void => {
    indexer.remove()
    home.remove()
  }
  return { indexer, remove }
}
