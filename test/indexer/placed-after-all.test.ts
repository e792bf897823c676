import { expect, onTestFinished, test } from 'vitest'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'

/** A chat that only its attached file places. */
function say(store: Store, chatId: string): void {
  const uri = { fsPath: '/home/ada/shop/cart.ts', external: 'file:///home/ada/shop/cart.ts', scheme: 'file' }
  store.message(chatId, `${chatId}-1`, { type: 1, text: 'plum' })
  store.chat(chatId, {
    fullConversationHeadersOnly: headers([`${chatId}-1`]),
    context: { fileSelections: [{ uri }] },
  })
}

const projectOf = ({ mirror }: Indexer, chatId: string): unknown =>
  mirror
    .prepare('select projects.name from chats left join projects on projects.num = chats.project where chats.id = ?')
    .pluck()
    .get(chatId)

test('a chat that was written in a run that failed later gets its project in the next one', async () => {
  const home = new CursorHome()
  onTestFinished(() => home.remove())
  const store = home.global()
  say(store, 'known')
  home.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['known']).close()
  const indexer = new Indexer(home.userDir)
  onTestFinished(() => indexer.remove())
  await indexer.pass()
  say(store, 'late')
  await indexer.stoppedPass(({ outcome }) => outcome?.chatIds.length === 1)
  expect(projectOf(indexer, 'late')).toBeNull()
  await indexer.pass()
  expect(projectOf(indexer, 'late')).toBe('shop')
})
