// The agent of the sample home, in a process of its own: a process that closes a file loses all the locks it holds on
// it, so whoever reads a store must not be who writes it.
import { CursorHome } from './cursor-home.ts'
import { liveMoves } from './live-chats.ts'

const [folder = '', seed = ''] = process.argv.slice(2)
const home = new CursorHome(folder)
const store = home.global()
const moves = liveMoves(seed)

function goOn(): void {
  const { afterMs, write } = moves.next().value
  setTimeout(() => {
    write(store, Date.now())
    goOn()
  }, afterMs)
}

// Ctrl-C reaches every process of the terminal; this one ends when the daemon lets go of it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => {
  home.close()
  process.exit(0)
})
goOn()
