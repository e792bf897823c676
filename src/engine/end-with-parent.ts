/**
 * Where whoever started this process is gone, however that ended, it goes at once. By a signal, and not by an exit: the
 * exit of Node 24 waits for its compiling threads, which may wait for a collection that nobody makes any more, and both
 * wait for ever. All that our processes write is safe from being killed.
 * @returns what ends it when its work is done
 */
export function endWithParent(): () => void {
  process.on('disconnect', die)
  return () => {
    process.off('disconnect', die)
    process.on('disconnect', () => process.exit(0))
    process.disconnect()
  }
}

const die = (): void => void process.kill(process.pid, 'SIGKILL')
